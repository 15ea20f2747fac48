import type { Page } from "playwright-core";
import type { Session } from "sandbar";
import { House, type Visitor } from "../test/visitor.js";

const SECONDS = 140;
const GLYPH_MS = 10_000;
const LETTERS = "abcdefghijklmnopqrstuvwxyz";

export type Figures = Readonly<Record<string, number>>;

/** What stays when the work is done or broken off: it is closed, the newest first. */
export type Closing = (close: () => Promise<void> | void) => void;

/** Do WORK, print what it found as one line, and leave nothing behind, also when we are told to stop or it takes too long. */
export async function measure(
	bench: string,
	work: (closing: Closing) => Promise<Figures>,
	seconds = SECONDS,
): Promise<void> {
	const closes: (() => Promise<void> | void)[] = [];
	const close = async (code: number): Promise<never> => {
		for (const one of closes.reverse()) {
			try {
				await one();
			} catch (error) {
				console.error(error);
			}
		}
		process.exit(code);
	};
	let leaving: Promise<never> | undefined; // the work fails, too, once its browser is closed
	const leave = (code: number): Promise<never> => (leaving ??= close(code));
	process.once("SIGTERM", () => void leave(1));
	const tooLong = (): void => {
		console.error(`${bench}: it took longer than ${seconds} s`);
		void leave(1);
	};
	setTimeout(tooLong, seconds * 1000).unref();
	try {
		const figures = await work((close) => closes.push(close));
		console.log(JSON.stringify({ bench, ...figures }));
		await leave(0);
	} catch (error) {
		console.error(error);
		await leave(1);
	}
}

export async function openHouse(closing: Closing): Promise<House> {
	const opening = House.open();
	closing(async () => (await opening).close());
	return opening;
}

/** The figures of times in milliseconds, as all programs of the table name them. */
export function percentiles(times: readonly number[]): Figures {
	const sorted = [...times].sort((one, other) => one - other);
	const at = (share: number): number =>
		Math.round(1000 * (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN));
	return { runs: times.length, p50_us: at(0.5), p95_us: at(0.95), p99_us: at(0.99) };
}

/** In the page, before its own scripts: what its WebSockets bring, and when a key's glyph is drawn. */
function probe(): void {
	const state = { bytes: 0, watch };
	Object.assign(globalThis, { bench: state });
	globalThis.WebSocket = class extends WebSocket {
		constructor(url: string | URL, protocols?: string | string[]) {
			super(url, protocols);
			this.addEventListener("message", ({ data }) => (state.bytes += (data as ArrayBuffer).byteLength));
		}
	};

	/* What is changed in a frame's own callbacks is drawn at its end; what is changed otherwise, with the next. */
	let isFrame = false;
	const framed = new MessageChannel(); // its message comes after the frame in which it was sent
	framed.port1.onmessage = (): void => {
		isFrame = false;
	};
	const request = globalThis.requestAnimationFrame.bind(globalThis);
	globalThis.requestAnimationFrame = (callback) =>
		request((time) => {
			isFrame = true;
			framed.port2.postMessage(0);
			callback(time);
		});

	/** Each key's time from the event to the end of the frame that changed the text of what SELECTOR finds. */
	function watch(selector: string): void {
		const rows = document.querySelector(".xterm-rows");
		const text = (): string => document.querySelector(selector)?.textContent.replace(/\s/g, "") ?? "";
		const drawn = new MessageChannel();
		let pressed: { readonly at: number; readonly text: string } | null = null;
		drawn.port1.onmessage = ({ data }) => {
			const { report } = globalThis as unknown as { report: (ms: number) => void };
			report(performance.now() - (data as number));
		};
		document.addEventListener("keydown", (event) => (pressed = { at: event.timeStamp, text: text() }), true);
		new MutationObserver(() => {
			if (pressed && text() !== pressed.text) {
				const { at } = pressed;
				pressed = null;
				if (isFrame) {
					drawn.port2.postMessage(at);
				} else {
					request(() => drawn.port2.postMessage(at));
				}
			}
		}).observe(rows ?? document, { subtree: true, childList: true, characterData: true });
	}
}

/** A page whose keys are timed. */
export class Keys {
	private heard: (ms: number) => void = () => undefined;
	private pressed = 0;
	private constructor(private readonly page: Page) {}

	/** To be called before PAGE goes anywhere. */
	static async on(page: Page): Promise<Keys> {
		const keys = new Keys(page);
		await page.exposeFunction("report", (ms: number) => keys.heard(ms));
		await page.addInitScript(probe);
		return keys;
	}

	/** From now on a key's glyph changes the text of what SELECTOR finds. */
	async watch(selector: string): Promise<void> {
		await this.page.evaluate((wanted) => {
			const { bench } = globalThis as unknown as { bench: { watch: (selector: string) => void } };
			bench.watch(wanted);
			document.querySelector<HTMLElement>(".xterm textarea")?.focus();
		}, selector);
	}

	/** One key; how many milliseconds until its glyph was drawn. */
	async press(): Promise<number> {
		const shown = new Promise<number>((resolve, reject) => {
			const late = setTimeout(() => reject(new Error("a key's glyph did not come")), GLYPH_MS);
			this.heard = (ms): void => {
				clearTimeout(late);
				resolve(ms);
			};
		});
		await this.page.keyboard.press(LETTERS[this.pressed++ % LETTERS.length] ?? "a");
		return shown;
	}

	/** COUNT keys, each at another moment between two frames. */
	async times(count: number): Promise<readonly number[]> {
		const times: number[] = [];
		for (let i = 0; i < count; i++) {
			times.push(await this.press());
			await new Promise((resolve) => setTimeout(resolve, 20 + ((this.pressed * 7) % 17)));
		}
		return times;
	}

	/** Bytes that came by WebSockets so far. */
	async bytes(): Promise<number> {
		return this.page.evaluate(() => (globalThis as unknown as { bench: { bytes: number } }).bench.bytes);
	}
}

/** The page of a session that has one process, which runs ARGV in a terminal of 80×24, once it shows TEXT. */
export async function watched(house: House, argv: readonly string[], text: string): Promise<[Visitor, Keys, Session]> {
	const { session, process } = await house.session();
	await session.kill(process);
	const terminal = { cols: 80, rows: 24 };
	const number = await session.start({ argv: [...argv], terminal, name: "bench" });
	await session.setTerminal(number, { size: "fixed", ...terminal });
	const { token } = await session.share({ role: "editor" });
	const visitor = await house.visitor();
	const keys = await Keys.on(visitor.page);
	await visitor.page.goto(`${house.url}/#${token}`);
	await visitor.page.getByRole("tab", { name: "bench" }).click();
	await visitor.sees(text);
	return [visitor, keys, session];
}

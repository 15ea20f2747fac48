import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, test as nodeTest, type TestContext } from "node:test";
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from "playwright-core";
import { Connection, Session } from "sandbar";
import { Server, TOP } from "sandbar/test/server";

/** How a browser is started. */
export const LAUNCH = {
	executablePath: process.env.SANDBAR_CHROMIUM ?? "/usr/bin/chromium",
	args: ["--no-sandbox", "--disable-dev-shm-usage"],
};
const PICTURES = join(TOP, "build/browser");
const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
export const PATIENCE_MS = 30_000;

/** What Chromium says of its own drawing is not the page's fault. */
const NOISE = /GL Driver Message|GPU stall/;

/** Writes over the `B`, which is in column 8 where emoji are two columns wide each, joined or not. */
export const EMOJI = {
	argv: ["bash", "-c", "printf 'A\u{1f680}\u{1f468}\u200d\u{1f469}B\\033[8GX\\n'; sleep 600"],
	terminal: { cols: 80, rows: 24 },
	name: "emoji",
};
export const EMOJI_SHOWN = "A\u{1f680}\u{1f468}\u200d\u{1f469}X";

export function test(name: string, story: (context: TestContext) => Promise<void>): void {
	void nodeTest(name, { timeout: 180_000 }, story);
}

/** Of the confinement, as the server tells it. */
interface Layer {
	readonly name: string;
	readonly on: boolean;
	readonly detail: string;
}

/** The real server, a browser, and all who came by it. */
export class House {
	private readonly visitors: Visitor[] = [];
	private readonly connections: Connection[] = [];

	private constructor(
		readonly server: Server,
		private readonly browser: Browser,
	) {}

	static async open(...flags: readonly string[]): Promise<House> {
		const server = await Server.start(...flags);
		try {
			return new House(server, await chromium.launch(LAUNCH));
		} catch (error) {
			await server.stop();
			throw error;
		}
	}

	/** The house of a file of tests: closed, and looked after, behind the last of them. */
	static async ofFile(): Promise<House> {
		const house = await House.open();
		after(async () => {
			await house.close();
			house.check();
		});
		return house;
	}

	get url(): string {
		return this.server.url.replace("ws:", "http:");
	}

	/** Somebody with a browser of his own. */
	async visitor(options: BrowserContextOptions & { readonly webgl?: boolean } = {}): Promise<Visitor> {
		const { webgl, ...rest } = options;
		const context = await this.browser.newContext({ viewport: { width: 1280, height: 800 }, ...rest });
		context.setDefaultTimeout(PATIENCE_MS);
		if (!webgl) {
			await context.addInitScript(() => {
				try {
					localStorage.setItem("sandbar.webgl", "no");
				} catch {
					return; // about:blank has none
				}
			});
		}
		const visitor = new Visitor(context, await context.newPage());
		this.visitors.push(visitor);
		return visitor;
	}

	/** A program with the owner's token, beside the browsers. */
	async program(): Promise<Connection> {
		const connection = new Connection({ url: this.server.url, token: this.server.token, client: "browser-tests" });
		await connection.open();
		this.connections.push(connection);
		return connection;
	}

	/** What this host does not give of the layers that are called NAMES; null = it gives all. */
	async lack(...names: readonly string[]): Promise<string | null> {
		const { layers } = await (await this.program()).call("server.info");
		const wanted = (layers as readonly Layer[]).find(({ name, on }) => names.includes(name) && !on);
		return wanted ? `not here: ${wanted.name} (${wanted.detail})` : null;
	}

	/** A session with a shell in a terminal. */
	async session(): Promise<{ readonly session: Session; readonly process: number }> {
		const session = await Session.create(await this.program());
		const process = await session.start({ argv: ["/bin/bash", "--norc"], terminal: { cols: 80, rows: 24 } });
		return { session, process };
	}

	/** The owner's page of a session, by the address of a wire where one is given. */
	async owner(
		session: Session,
		options: Parameters<House["visitor"]>[0] = {},
		by = this.server.url,
	): Promise<Visitor> {
		const visitor = await this.visitor(options);
		const url = by.replace("ws:", "http:");
		await visitor.page.goto(`${url}/#${this.server.token}`);
		await visitor.connected();
		await visitor.page.goto(`${url}/session#session=${session.id}`);
		await visitor.connected();
		return visitor;
	}

	async close(): Promise<void> {
		this.connections.forEach((connection) => connection.close());
		await this.browser.close();
		await this.server.stop();
	}

	/** Nothing went wrong on any page: no error on a console, nothing that the policy forbids. */
	check(): void {
		for (const visitor of this.visitors) {
			assert.deepEqual(visitor.faults, []);
		}
	}
}

/** Somebody who looks at a page. */
export class Visitor {
	readonly faults: string[] = [];
	/** What the browser itself says on the console when a network fails that a test made fail. */
	private expected: RegExp | null = null;

	constructor(
		readonly context: BrowserContext,
		readonly page: Page,
	) {
		page.on("pageerror", (error) => this.faults.push(`${error.message}\n${error.stack ?? ""}`));
		page.on("console", (message) => {
			const text = message.text();
			if (["error", "warning"].includes(message.type()) && !NOISE.test(text) && !this.expected?.test(text)) {
				this.faults.push(text);
			}
		});
		page.on("request", (request) => {
			const url = new URL(request.url());
			if (url.hostname !== "127.0.0.1" && url.protocol !== "data:") {
				this.faults.push(`a request to ${request.url()}`);
			}
		});
	}

	/** The network of this visitor will fail, and no page can keep its browser from saying so. */
	expectsFailures(): void {
		this.expected = /^WebSocket connection to '\S+' failed: /;
	}

	/** The page shows how its connection stands. */
	async is(state: "connecting" | "connected" | "cut"): Promise<void> {
		await this.page.locator(`.state[data-state="${state}"]`).waitFor();
	}

	async connected(): Promise<void> {
		await this.is("connected");
	}

	/** Wait until the terminal on the page shows TEXT. */
	async sees(text: string | RegExp): Promise<void> {
		await this.page.locator(".pane .xterm-rows").filter({ hasText: text }).first().waitFor();
	}

	/** Type into the terminal. */
	async types(text: string): Promise<void> {
		await this.page.locator(".pane .xterm-screen").first().click();
		await this.page.keyboard.type(text);
	}

	/** The visible lines of the terminal, empty ones too. */
	async screen(): Promise<string> {
		const rows = this.page.locator(".pane .xterm-rows").first();
		const lines = await rows.evaluate((element) => [...element.children].map((row) => row.textContent));
		return lines.map((line) => line.replaceAll("\u00a0", " ").trimEnd()).join("\n");
	}

	/** The cells of the terminal as they are drawn: runs of text, with how they look. The cursor is each viewer's own. */
	async cells(): Promise<readonly string[]> {
		return this.page
			.locator(".pane .xterm-rows")
			.first()
			.evaluate((rows) =>
				[...rows.children].map((row) => {
					let line = "";
					let before = "";
					for (const run of row.children) {
						const classes = [...run.classList].filter((name) => !name.startsWith("xterm-cursor"));
						const { style } = run as HTMLElement;
						const styles = [...style]
							.filter((name) => name !== "letter-spacing") // the width of each page's font
							.map((name) => `${name}: ${style.getPropertyValue(name)};`);
						const look = [...classes, ...styles].join(" ");
						line += (look === before ? "" : `<${look}>`) + run.textContent;
						before = look;
					}
					return line.trimEnd();
				}),
			);
	}

	async picture(name: string): Promise<void> {
		mkdirSync(PICTURES, { recursive: true });
		await this.page.screenshot({ path: join(PICTURES, `${name}.png`) });
	}

	/** What axe-core finds wrong with the page as it is. */
	async accessibility(): Promise<void> {
		assert.deepEqual(await this.axe(), []);
	}

	/** In a world of its own, since the page's policy lets no script in. */
	private async axe(): Promise<readonly string[]> {
		const session = await this.context.newCDPSession(this.page);
		const { frameTree } = await session.send("Page.getFrameTree");
		const world = await session.send("Page.createIsolatedWorld", { frameId: frameTree.frame.id, worldName: "axe" });
		const contextId = world.executionContextId;
		await session.send("Runtime.evaluate", { contextId, expression: readFileSync(AXE, "utf8") });
		const expression = `axe.run(document, {resultTypes: ["violations"]}).then(({violations}) => violations.map(
			(one) => one.id + ": " + one.nodes.map((node) => node.html.slice(0, 160) + " " + node.failureSummary).join("\\n")))`;
		const { result } = await session.send("Runtime.evaluate", {
			contextId,
			expression,
			awaitPromise: true,
			returnByValue: true,
		});
		return result.value as readonly string[];
	}
}

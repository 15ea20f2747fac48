import type { IMarker } from "@xterm/xterm";
import type { ChannelEvents, ProcessView, Size } from "sandbar";
import { ICONS, button, fill, h, iconButton } from "../dom.js";
import { plain, processTitle } from "../format.js";
import { Screen } from "../terminal/screen.js";
import { DriverBar } from "./driver_bar.js";
import type { Room } from "./room.js";
import { SearchBar } from "./search_bar.js";

const KEPT_BYTES = 1024 * 1024;
const RESIZE_MS = 100;
const STDERR = [new TextEncoder().encode("\x1b[31m"), new TextEncoder().encode("\x1b[39m")] as const;

type Output = ChannelEvents["output"];

/** What to do to a screen, in order. */
interface Step {
	readonly act: (screen: Screen) => void;
	/** Of output. */
	readonly bytes: number;
	/** The terminal's size from here on, where the step says one. */
	readonly size?: Size;
}

/** A process's output on the page: a terminal that takes keys, or the text of its pipes. */
export class Pane {
	readonly element: HTMLElement;
	onFocus: () => void = () => undefined;
	private screen: Screen | null = null;
	/** What came before the pane was opened. */
	private steps: Step[] = [];
	private keptBytes = 0;
	/** The newest size that steps said which are not kept any more: what is kept was written at it. */
	private droppedSize: Size | null = null;
	private readonly stage = h("div", { class: "stage" });
	private readonly live = iconButton(ICONS.down, "Jump to live", () => this.jump(), true);
	private readonly gapBar = h("div", { class: "gap", role: "status", hidden: true });
	private readonly ending = h("div", { class: "ending", hidden: true });
	private readonly driver: DriverBar | null;
	private readonly searchBar: SearchBar;
	private readonly marks = new Map<number, IMarker>();
	private readonly observer = new ResizeObserver(() => this.measure());
	private measuring: ReturnType<typeof setTimeout> | undefined;
	private noticing: number | null = null;
	private told = "";

	constructor(
		private readonly room: Room,
		readonly process: ProcessView,
		/** What becomes of typed text before it is sent. */
		private readonly translate: (text: string) => string,
	) {
		this.driver = process.started?.terminal ? new DriverBar(room, process.process) : null;
		this.searchBar = new SearchBar(() => this.screen);
		this.live.classList.add("jump");
		this.live.hidden = true;
		this.element = h(
			"section",
			{ class: "pane", "aria-label": this.title, on: { focusin: () => this.onFocus() } },
			this.driver?.element,
			this.searchBar.element,
			this.gapBar,
			this.stage,
			this.live,
			this.ending,
		);
		this.observer.observe(this.stage);
		this.refresh();
	}

	get number(): number {
		return this.process.process;
	}

	get title(): string {
		return processTitle(this.number, this.process.started);
	}

	get isTerminal(): boolean {
		return this.driver !== null;
	}

	/* --- what the channel tells --------------------------------------------------------------------------- */

	output({ stream, bytes, drawn }: Output): void {
		if (stream === "stderr") {
			this.apply({ act: (screen) => screen.write(STDERR[0]), bytes: 0 });
		}
		if (this.screen) {
			this.screen.write(bytes, drawn);
			this.noticeDistance();
		} else {
			const kept = bytes.slice(); // a view would keep its whole message
			this.apply({ act: (screen) => screen.write(kept), bytes: kept.length });
			drawn();
		}
		if (stream === "stderr") {
			this.apply({ act: (screen) => screen.write(STDERR[1]), bytes: 0 });
		}
	}

	restart(cols: number, rows: number, bytes: Uint8Array): void {
		this.steps = [];
		this.keptBytes = 0;
		const kept = bytes.slice();
		const act = (screen: Screen): void => {
			screen.restart(cols, rows);
			screen.write(kept);
		};
		this.apply({ act, bytes: kept.length, size: { cols, rows } });
	}

	resized(cols: number, rows: number): void {
		this.apply({ act: (screen) => screen.resize(cols, rows), bytes: 0, size: { cols, rows } });
	}

	gap(): void {
		const hide = iconButton(ICONS.close, "Hide", () => (this.gapBar.hidden = true));
		fill(this.gapBar, h("span", {}, "Some output was skipped here, so that you see what is new."), hide);
		this.gapBar.hidden = false;
	}

	/** Mark the moment of a note in the scrollback. */
	note(seq: number): void {
		const act = (screen: Screen): void => {
			screen.terminal.write("", () => this.marks.set(seq, screen.mark("#d97706")));
		};
		this.apply({ act, bytes: 0 });
	}

	/** Scroll to where the note was made. False: that is not in the scrollback. */
	showNote(seq: number): boolean {
		const mark = this.marks.get(seq);
		if (!mark || mark.isDisposed || !this.screen) {
			return false;
		}
		this.screen.terminal.scrollToLine(Math.max(0, mark.line - 2));
		return true;
	}

	/** The process ended, or who drives is another. */
	refresh(): void {
		this.driver?.refresh();
		const { ending } = this.process;
		this.ending.hidden = !ending;
		if (ending && this.told === "") {
			this.told = endingText(ending.exit_code, ending.reason, ending.signal);
			fill(this.ending, this.told);
			if (ending.message) {
				this.ending.append(`: ${plain(ending.message, 200)}`);
			}
		}
	}

	/* --- what the page does ------------------------------------------------------------------------------- */

	/** It is on the page now, and looked at. */
	show(): void {
		if (!this.screen) {
			this.open();
		}
		this.screen?.show();
		this.measure();
	}

	hide(): void {
		this.screen?.hide();
	}

	focus(): void {
		this.screen?.terminal.focus();
	}

	find(): void {
		this.searchBar.open();
	}

	/** A key of the key row. */
	type(text: string): void {
		this.send(text);
	}

	private open(): void {
		const screen = new Screen({
			label: `${this.title}: ${this.isTerminal ? "terminal input" : "output"}`,
			convertEol: !this.isTerminal,
			...(this.isTerminal ? { onData: (data: string | Uint8Array) => this.send(data) } : {}),
		});
		this.screen = screen;
		this.stage.append(screen.element);
		screen.open();
		screen.terminal.onScroll(() => this.noticeDistance());
		screen.element.addEventListener("wheel", () => this.noticeDistance(), { passive: true });
		const size = this.firstSize();
		if (size) {
			screen.resize(size.cols, size.rows);
		}
		this.steps.splice(0).forEach(({ act }) => act(screen));
		this.keptBytes = 0;
	}

	/** The size at which what is kept begins; where nothing came yet, the one of now. */
	private firstSize(): Size | null {
		const now = this.steps.length === 0 ? this.room.view.terminals.get(this.number) : undefined;
		return now ?? this.droppedSize ?? this.process.started?.terminal ?? null;
	}

	private apply(step: Step): void {
		if (this.screen) {
			step.act(this.screen);
			return;
		}
		this.steps.push(step);
		this.keptBytes += step.bytes;
		while (this.keptBytes > KEPT_BYTES && this.steps.length > 1) {
			const dropped = this.steps.shift();
			this.keptBytes -= dropped?.bytes ?? 0;
			this.droppedSize = dropped?.size ?? this.droppedSize;
		}
	}

	private send(data: string | Uint8Array): void {
		if (this.process.ending) {
			return;
		}
		if (this.driver && !this.driver.mayType) {
			this.driver.flash();
			return;
		}
		const wanted = typeof data === "string" ? this.translate(data) : data;
		void this.room.channel.write(this.number, wanted);
	}

	private jump(): void {
		this.screen?.terminal.scrollToBottom();
		this.live.hidden = true;
		this.focus();
	}

	/** Once a frame, however many lines scroll by in it. */
	private noticeDistance(): void {
		this.noticing ??= requestAnimationFrame(() => {
			this.noticing = null;
			this.live.hidden = this.screen?.isAtEnd ?? true;
		});
	}

	/** Its place on the page has another size: say so to the server, whose answer is the terminal's size. */
	private measure(): void {
		clearTimeout(this.measuring);
		this.measuring = setTimeout(() => {
			const { screen } = this;
			const size = this.stage.isConnected && screen ? screen.proposed() : null;
			if (!screen || !size) {
				return;
			}
			if (!this.isTerminal) {
				screen.terminal.resize(size.cols, size.rows);
				return;
			}
			if (!this.process.ending) {
				this.room.channel.resize(this.number, size.cols, size.rows);
			}
			screen.layOut();
		}, RESIZE_MS);
	}
}

function endingText(code: number | null, reason: string, signal: string | null): string {
	if (reason === "exited") {
		return code === 0 ? "Exited" : `Exited with ${code ?? "?"}`;
	}
	return signal ? `Ended: ${reason} (${signal})` : `Ended: ${reason}`;
}

/** A control that stands for a pane among tabs. */
export function tabOf(pane: Pane, isChosen: boolean, choose: () => void): HTMLElement {
	const tab = button(pane.title, choose, "tab");
	tab.setAttribute("role", "tab");
	tab.setAttribute("aria-selected", String(isChosen));
	tab.tabIndex = isChosen ? 0 : -1;
	tab.title = "Ctrl+Shift+L leads here from the terminal, and on to the people and notes";
	tab.dataset.process = String(pane.number);
	tab.dataset.kind = pane.isTerminal ? "terminal" : "pipes";
	return tab;
}

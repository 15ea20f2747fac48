import type { Note } from "sandbar";
import { ICONS, fill, h, iconButton } from "../dom.js";
import { plain } from "../format.js";
import type { PageFrame } from "../frame.js";
import { KeyRow } from "./key_row.js";
import { Notes } from "./notes.js";
import { Pane, tabOf } from "./pane.js";
import { People } from "./people.js";
import type { Room } from "./room.js";
import { ShareDialog } from "./share_dialog.js";

/** The session's page: tabs of its processes, one or two of them side by side, and a panel of people and notes. */
export class Desk {
	private readonly panes = new Map<number, Pane>();
	/** What is shown, left to right; the focused one is where tabs go. */
	private shown: Pane[] = [];
	private focused = 0;
	private isSplit = false;
	private isChosen = false;
	private isLive = false;
	/** A process that was started here, until it is shown: the answer may come before the event; 0 = none. */
	private wanted = 0;
	/** What is to be done before the next frame. */
	private readonly due = new Set<() => void>();
	private readonly tabs = h("div", {
		class: "tabs",
		role: "tablist",
		"aria-label": "Processes",
		on: { keydown: (event) => this.tabKey(event) },
	});
	private readonly stage = h("div", { class: "panes" });
	private readonly people: People;
	private readonly notes: Notes;
	private readonly keys = new KeyRow((text) => this.current?.type(text));
	private readonly panel = h("aside", { class: "panel", id: "panel", "aria-label": "People and notes" });
	private readonly add = iconButton(ICONS.plus, "New terminal", () => void this.newTerminal());

	constructor(
		private readonly frame: PageFrame,
		private readonly room: Room,
	) {
		this.people = new People(room);
		this.notes = new Notes(
			room,
			(note) => this.showNote(note),
			() => this.current?.number,
		);
		this.listen();
	}

	async begin(): Promise<void> {
		const { room, frame } = this;
		fill(this.panel, this.people.element, this.notes.element);
		const tools = h(
			"div",
			{ class: "tools" },
			iconButton(ICONS.search, "Search (Ctrl+Shift+F)", () => this.current?.find()),
			iconButton(ICONS.split, "Split", () => this.split()),
			iconButton(ICONS.play, "Replay", () => location.assign(`/replay#session=${room.session.id}`)),
		);
		const bar = h("div", { class: "tab-bar" }, this.tabs, this.add, tools);
		fill(
			frame.main,
			h("div", { class: "desk" }, h("div", { class: "work" }, bar, this.stage, this.keys.element), this.panel),
		);
		const panel = iconButton(ICONS.people, "People and notes", () => this.togglePanel());
		panel.setAttribute("aria-controls", "panel");
		const share = iconButton(ICONS.share, "Share", () => new ShareDialog(room).open(), true);
		share.classList.add("primary");
		frame.name(room.session.id);
		fill(frame.actions, this.people.faces, room.is("owner") && share, panel);
		this.add.hidden = !room.is("editor");
		addEventListener("keydown", (event) => this.shortcut(event));
		document.body.dataset.panel = matchMedia("(width < 900px)").matches ? "closed" : "open";
		const { name } = await room.session.info();
		frame.name(plain(name) || room.session.id);
		this.people.draw();
		room.view.addProcesses(await room.session.processes());
		this.draw();
	}

	/** The session is over; what it said stays on the page. */
	ended(): void {
		this.frame.toast("The session has ended.");
		this.add.hidden = true;
		document.body.dataset.ended = "true";
	}

	private get current(): Pane | undefined {
		return this.shown[this.focused] ?? this.shown[0];
	}

	/* --- what the channel tells --------------------------------------------------------------------------- */

	private listen(): void {
		const { channel, view } = this.room;
		view.on("processes", () => this.later(this.draw));
		view.on("terminals", () => this.later(this.refresh));
		view.on("participants", () => this.later(this.refresh));
		channel.on("output", (output) => {
			const pane = this.pane(output.process);
			if (pane) {
				pane.output(output);
			} else {
				output.drawn();
			}
		});
		channel.on("screen", ({ process, cols, rows, bytes }) => this.pane(process)?.restart(cols, rows, bytes));
		channel.on("resized", ({ process, cols, rows }) => this.pane(process)?.resized(cols, rows));
		channel.on("live", () => (this.isLive = true));
		channel.on("gap", () => this.isLive && this.panes.forEach((pane) => !pane.process.ending && pane.gap()));
		channel.on("note", (note) => note.process !== null && this.pane(note.process)?.note(note.seq));
		channel.on("inputRefused", ({ message }) => this.room.tell(plain(message, 200)));
	}

	private pane(process: number): Pane | undefined {
		const known = this.panes.get(process);
		const view = this.room.view.processes.get(process);
		if (known || !view) {
			return known;
		}
		const made = new Pane(this.room, view, (text) => this.keys.translate(text));
		this.panes.set(process, made);
		return made;
	}

	/* --- tabs and splits ---------------------------------------------------------------------------------- */

	/** A long session's events come by the thousand: what they change is drawn once for each frame. */
	private later(what: () => void): void {
		if (this.due.size === 0) {
			requestAnimationFrame(() => {
				const all = [...this.due];
				this.due.clear();
				all.forEach((one) => one());
			});
		}
		this.due.add(what);
	}

	private readonly refresh = (): void => {
		this.panes.forEach((pane) => pane.refresh());
		this.add.hidden = !this.room.is("editor");
	};

	private readonly draw = (): void => {
		const { processes } = this.room.view;
		processes.forEach((_, process) => this.pane(process)?.refresh());
		const listed = [...this.panes.values()].sort(
			(one, other) => rank(one) - rank(other) || one.number - other.number,
		);
		fill(this.tabs, ...listed.map((pane) => tabOf(pane, this.shown.includes(pane), () => this.choose(pane))));
		const wanted = this.panes.get(this.wanted);
		if (wanted) {
			this.wanted = 0;
			this.choose(wanted);
			return;
		}
		const best = listed.find((pane) => pane.isTerminal && !pane.process.ending) ?? listed[0];
		const isWaiting = this.shown.length === 0 || (!this.isChosen && best !== this.current);
		if (best && isWaiting && !this.isSplit) {
			this.place([best]);
			this.greet(best);
		} else if (listed.length === 0) {
			fill(this.stage, h("p", { class: "empty" }, "Nothing runs here yet. “+” opens a terminal."));
		}
	};

	private choose(pane: Pane): void {
		this.isChosen = true;
		const shown = [...this.shown];
		shown[Math.min(this.focused, Math.max(0, shown.length - 1))] = pane;
		this.place(shown.filter((one, i) => shown.indexOf(one) === i));
		pane.focus();
	}

	/** Who came to type may type at once. A finger would get a keyboard over half of the screen that it did not ask for. */
	private greet(pane: Pane): void {
		const isIdle = document.activeElement === null || document.activeElement === document.body;
		if (isIdle && this.room.is("editor") && pane.isTerminal && matchMedia("(pointer: fine)").matches) {
			pane.focus();
		}
	}

	private place(shown: readonly Pane[]): void {
		this.shown.filter((pane) => !shown.includes(pane)).forEach((pane) => pane.hide());
		this.shown = [...shown];
		this.focused = Math.min(this.focused, this.shown.length - 1);
		fill(this.stage, ...this.shown.map((pane) => pane.element));
		this.stage.dataset.count = String(this.shown.length);
		this.shown.forEach((pane, i) => {
			pane.onFocus = () => (this.focused = i);
			pane.show();
		});
		for (const tab of this.tabs.querySelectorAll<HTMLElement>(".tab")) {
			const isShown = this.shown.some((pane) => String(pane.number) === tab.dataset.process);
			tab.setAttribute("aria-selected", String(isShown));
			tab.tabIndex = isShown ? 0 : -1;
		}
	}

	private split(): void {
		if (this.isSplit) {
			this.isSplit = false;
			this.place(this.current ? [this.current] : []);
			return;
		}
		const other = [...this.panes.values()].find((pane) => !this.shown.includes(pane));
		if (!other) {
			this.frame.toast("There is only one process: open another terminal first.");
			return;
		}
		this.isSplit = true;
		this.isChosen = true;
		this.place([...this.shown, other]);
	}

	private tabKey(event: KeyboardEvent): void {
		const tabs = [...this.tabs.querySelectorAll<HTMLElement>(".tab")];
		const at = tabs.indexOf(document.activeElement as HTMLElement);
		const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
		if (step !== undefined && at >= 0) {
			tabs[(at + step + tabs.length) % tabs.length]?.focus();
			event.preventDefault();
		}
	}

	/* --- what people do ----------------------------------------------------------------------------------- */

	private async newTerminal(): Promise<void> {
		const { room } = this;
		await room.attempt(async () => {
			this.wanted = await room.session.start({
				argv: ["/bin/bash"],
				terminal: { cols: 80, rows: 24 },
				name: "shell",
			});
			this.draw();
		});
	}

	private showNote(note: Note): void {
		const pane = note.process === null ? undefined : this.panes.get(note.process);
		if (pane) {
			this.choose(pane);
		}
		if (!pane?.showNote(note.seq)) {
			this.frame.toast("That moment is not in the scrollback of this page any more.");
		}
	}

	private togglePanel(): void {
		const isOpen = document.body.dataset.panel !== "closed";
		document.body.dataset.panel = isOpen ? "closed" : "open";
	}

	/** Tab is the program's where a terminal has the focus: there must be another way out of it. */
	private shortcut(event: KeyboardEvent): void {
		const ways: Readonly<Record<string, () => void>> = {
			KeyF: () => this.current?.find(),
			KeyL: () => this.leave(),
		};
		const way = event.ctrlKey && event.shiftKey && ways[event.code];
		if (way) {
			event.preventDefault();
			way();
		}
	}

	/** To the terminal's tab, or from there to the panel. */
	private leave(): void {
		const tab = this.tabs.querySelector<HTMLElement>(`[data-process="${this.current?.number ?? 0}"]`);
		const isThere = tab === null || tab === document.activeElement;
		(isThere ? this.panel.querySelector("input") : tab)?.focus();
	}
}

/** Terminals that run stand first, then what else runs, then what has ended. */
function rank(pane: Pane): number {
	return (pane.process.ending ? 2 : 0) + (pane.isTerminal ? 0 : 1);
}

import type { InputMode, SizePolicy } from "sandbar";
import { button, fill, h, select } from "../dom.js";
import type { Room } from "./room.js";

const MODES: readonly (readonly [InputMode, string])[] = [
	["open", "Everyone types"],
	["driver", "One drives"],
];
const SIZES: readonly (readonly [SizePolicy, string])[] = [
	["driver", "Size: driver's"],
	["smallest", "Size: smallest"],
	["largest", "Size: largest"],
	["fixed", "Size: fixed"],
];

/** Who types into a terminal, and whose size it has; and what one can do about it. */
export class DriverBar {
	private readonly who = h("span", { class: "driver-who", role: "status" });
	private readonly ways = h("span", { class: "driver-ways" });
	private readonly settings = h("span", { class: "driver-settings" });
	readonly element = h("div", { class: "driver-bar" }, this.who, this.ways, this.settings);

	constructor(
		private readonly room: Room,
		private readonly process: number,
	) {}

	get mayType(): boolean {
		const terminal = this.room.view.terminals.get(this.process);
		return this.room.is("editor") && (terminal?.input !== "driver" || terminal.driver === this.room.me);
	}

	/** Somebody typed who may not: show why. */
	flash(): void {
		this.element.classList.remove("flash");
		requestAnimationFrame(() => this.element.classList.add("flash"));
	}

	refresh(): void {
		const { room, process } = this;
		const terminal = room.view.terminals.get(process);
		this.element.hidden = !terminal;
		if (!terminal) {
			return;
		}
		const { input, driver, away, requests } = terminal;
		this.element.dataset.mine = String(driver === room.me);
		this.who.textContent = this.told(input, driver, away);
		const asking = requests.filter((one) => one !== room.me);
		const isMine = driver === room.me;
		fill(
			this.ways,
			...(isMine || room.is("owner") ? asking.map((one) => this.handOver(one)) : []),
			room.is("editor") && isMine && this.way("Release", "terminal.release"),
			room.is("editor") && !isMine && this.takeOrAsk(driver, requests.includes(room.me)),
		);
		this.drawSettings(input, terminal.size, `${terminal.cols}×${terminal.rows}`);
	}

	private told(input: InputMode, driver: number | null, away: boolean): string {
		if (!this.room.is("editor")) {
			return driver === null ? "You watch" : `You watch · ${this.room.name(driver)} drives`;
		}
		if (driver === null) {
			return input === "open" ? "Everyone may type" : "Nobody drives";
		}
		const suffix = away ? ", who is away" : "";
		return driver === this.room.me ? "You drive" : `Driver: ${this.room.name(driver)}${suffix}`;
	}

	private takeOrAsk(driver: number | null, isAsking: boolean): HTMLElement | false {
		if (driver === null || this.room.is("owner")) {
			return this.way("Take over", "terminal.take");
		}
		return isAsking ? this.way("Withdraw request", "terminal.release") : this.way("Request", "terminal.request");
	}

	private handOver(participant: number): HTMLElement {
		const label = `Hand over to ${this.room.name(participant)}`;
		return this.way(label, "terminal.grant", { participant }, "primary");
	}

	private way(label: string, method: string, params: object = {}, kind = ""): HTMLElement {
		const { room, process } = this;
		return button(
			label,
			() => void room.attempt(() => room.channel.call(method, { process, ...params })),
			`small ${kind}`,
		);
	}

	private drawSettings(input: InputMode, size: SizePolicy, now: string): void {
		const { room, process } = this;
		const set = (change: Parameters<typeof room.session.setTerminal>[1]): void =>
			void room.attempt(() => room.session.setTerminal(process, change));
		if (!room.is("owner")) {
			fill(this.settings, h("span", { class: "quiet" }, now));
			return;
		}
		const { cols, rows } = room.view.terminals.get(process) ?? { cols: 80, rows: 24 };
		fill(
			this.settings,
			select("Who types", MODES, input, (value) => set({ input: value as InputMode })),
			select("Whose size", SIZES, size, (value) =>
				set(value === "fixed" ? { size: "fixed", cols, rows } : { size: value as SizePolicy }),
			),
			h("span", { class: "quiet" }, now),
		);
	}
}

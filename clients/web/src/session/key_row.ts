import { button, h } from "../dom.js";

const CONTROL_MASK = 0x1f;
const KEYS: readonly (readonly [string, string, string])[] = [
	["Esc", "\x1b", "Esc"],
	["Tab", "\t", "Tab"],
	["^C", "\x03", "Control C"],
	["↑", "\x1b[A", "Up"],
	["↓", "\x1b[B", "Down"],
	["←", "\x1b[D", "Left"],
	["→", "\x1b[C", "Right"],
	["^D", "\x04", "Control D"],
	["|", "|", "Pipe"],
	["/", "/", "Slash"],
	["-", "-", "Minus"],
	["~", "~", "Tilde"],
];

/** Keys that a phone's keyboard lacks. */
export class KeyRow {
	/** Ctrl was pressed: the next character is a control character. */
	private isControl = false;
	private readonly control = button("Ctrl", () => this.setControl(!this.isControl), "key");
	readonly element: HTMLElement;

	/** TYPE is told each key; what comes of it goes through `translate()`, as what is typed elsewhere does. */
	constructor(type: (text: string) => void) {
		this.control.setAttribute("aria-pressed", "false");
		keepKeyboard(this.control);
		const keys = KEYS.map(([text, bytes, label]) => {
			const key = button(text, () => type(bytes), "key");
			key.setAttribute("aria-label", label);
			keepKeyboard(key);
			return key;
		});
		this.element = h("div", { class: "key-row", role: "toolbar", "aria-label": "Keys" }, this.control, ...keys);
	}

	/** What was typed, as a control character when Ctrl was pressed before it. */
	translate(text: string): string {
		if (!this.isControl || text.length !== 1) {
			return text;
		}
		this.setControl(false);
		return String.fromCharCode(text.toUpperCase().charCodeAt(0) & CONTROL_MASK);
	}

	private setControl(isOn: boolean): void {
		this.isControl = isOn;
		this.control.setAttribute("aria-pressed", String(isOn));
	}
}

/** A tap on KEY takes the focus from nothing, so that a phone's keyboard stays. */
function keepKeyboard(key: HTMLElement): void {
	key.addEventListener("pointerdown", (event) => event.preventDefault());
}

import type { ISearchOptions } from "@xterm/addon-search";
import { ICONS, h, iconButton } from "../dom.js";
import type { Screen } from "../terminal/screen.js";

const DECORATIONS: NonNullable<ISearchOptions["decorations"]> = {
	matchBackground: "#8a6d1f",
	matchOverviewRuler: "#d9a514",
	activeMatchBackground: "#c2410c",
	activeMatchColorOverviewRuler: "#c2410c",
};

/** Search in a screen and its scrollback. */
export class SearchBar {
	private readonly input = h("input", {
		type: "search",
		"aria-label": "Search in the scrollback",
		on: { input: () => this.find(false, true), keydown: (event) => this.key(event) },
	});
	readonly element = h(
		"div",
		{ class: "search-bar", role: "search", hidden: true },
		this.input,
		iconButton("M6 15l6-6 6 6", "Previous match", () => this.find(true)),
		iconButton("M6 9l6 6 6-6", "Next match", () => this.find(false)),
		iconButton(ICONS.close, "Close search", () => this.close()),
	);

	constructor(private readonly screen: () => Screen | null) {}

	open(): void {
		this.element.hidden = false;
		this.input.select();
		this.input.focus();
	}

	private close(): void {
		this.element.hidden = true;
		this.screen()?.search.clearDecorations();
		this.screen()?.terminal.focus();
	}

	private find(isBackward: boolean, isIncremental = false): void {
		const { value } = this.input;
		const options = { decorations: DECORATIONS, incremental: isIncremental };
		const search = this.screen()?.search;
		const isFound = isBackward ? search?.findPrevious(value, options) : search?.findNext(value, options);
		this.input.setAttribute("aria-invalid", String(value !== "" && isFound === false));
	}

	private key(event: KeyboardEvent): void {
		if (event.key === "Enter") {
			this.find(event.shiftKey);
		} else if (event.key === "Escape") {
			this.close();
		}
	}
}

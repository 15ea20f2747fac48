import type { ITheme } from "@xterm/xterm";
import { lasting } from "./store.js";

export type ThemeName = "light" | "dark";

const DARK: ITheme = {
	background: "#10181b",
	foreground: "#dce5e3",
	cursor: "#f5c451",
	cursorAccent: "#10181b",
	selectionBackground: "#2f5f6280",
	overviewRulerBorder: "#10181b",
	black: "#1b262a",
	red: "#f2777a",
	green: "#7fc99a",
	yellow: "#f0c674",
	blue: "#79b8e8",
	magenta: "#c9a0e8",
	cyan: "#66cccb",
	white: "#d3dcda",
	brightBlack: "#7d8f94",
	brightRed: "#ff9a9c",
	brightGreen: "#9fe0b5",
	brightYellow: "#ffdf9a",
	brightBlue: "#a3d1f5",
	brightMagenta: "#dfc1f5",
	brightCyan: "#95e5e3",
	brightWhite: "#ffffff",
};
const LIGHT: ITheme = {
	background: "#fffefa",
	foreground: "#22302f",
	cursor: "#a35a00",
	cursorAccent: "#fffefa",
	selectionBackground: "#9fd3cc80",
	overviewRulerBorder: "#fffefa",
	black: "#22302f",
	red: "#b3261e",
	green: "#23703c",
	yellow: "#7d5700",
	blue: "#1f5fa8",
	magenta: "#7d3c98",
	cyan: "#0b6b68",
	white: "#5a6664",
	brightBlack: "#5f6d6b",
	brightRed: "#c23b33",
	brightGreen: "#2c7d47",
	brightYellow: "#8a6200",
	brightBlue: "#2a6fbd",
	brightMagenta: "#8e4bab",
	brightCyan: "#157a76",
	brightWhite: "#22302f",
};
const listeners = new Set<() => void>();
const prefersDark = matchMedia("(prefers-color-scheme: dark)");

export function themeName(): ThemeName {
	const chosen = lasting.get("theme");
	if (chosen === "light" || chosen === "dark") {
		return chosen;
	}
	return prefersDark.matches ? "dark" : "light";
}

/** The colours of terminals. */
export function terminalTheme(): ITheme {
	return themeName() === "dark" ? DARK : LIGHT;
}

export function toggleTheme(): void {
	lasting.set("theme", themeName() === "dark" ? "light" : "dark");
	apply();
}

/** LISTENER is called when it has changed; the result takes it off again. */
export function onTheme(listener: () => void): () => void {
	listeners.add(listener);
	return () => {
		listeners.delete(listener);
	};
}

/** Have the page follow what was chosen, or what the system says. */
export function beginTheme(): void {
	prefersDark.addEventListener("change", apply);
	apply();
}

function apply(): void {
	document.documentElement.dataset.theme = themeName();
	listeners.forEach((listener) => listener());
}

/** Numbers and texts as people read them. */

import type { Started } from "sandbar";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

/** How long ago WHEN (ms since 1970) was. */
export function ago(when: number, now = Date.now()): string {
	const passed = Math.max(0, now - when);
	if (passed < MINUTE) {
		return "just now";
	}
	if (passed < HOUR) {
		return `${Math.floor(passed / MINUTE)} min ago`;
	}
	return passed < DAY ? `${Math.floor(passed / HOUR)} h ago` : `${Math.floor(passed / DAY)} d ago`;
}

/** A number of BYTES, in three digits or so. */
export function bytes(count: number): string {
	const power = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(1, count)) / 10));
	const value = count / 1024 ** power;
	return `${value < 10 && power > 0 ? value.toFixed(1) : Math.round(value)} ${UNITS[power] ?? ""}`;
}

/** A place in a session: T microseconds after it was made. */
export function moment(t: number): string {
	const seconds = Math.floor(t / 1_000_000);
	const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
	const [hours, minutes, rest] = parts.map((part) => String(part).padStart(2, "0"));
	return parts[0] ? `${hours}:${minutes}:${rest}` : `${minutes}:${rest}`;
}

/** An argument vector as one line. */
export function commandLine(argv: readonly (string | Uint8Array)[]): string {
	return argv.map((part) => (typeof part === "string" ? part : new TextDecoder().decode(part))).join(" ");
}

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\u2028\u2029]/gu;

/** A text of somebody else on one line: nothing in it turns the writing round, hides, or breaks the line. */
export function plain(text: string, most = 200): string {
	const shown = text.replace(INVISIBLE, "\u{fffd}");
	return shown.length > most ? `${shown.slice(0, most)}…` : shown;
}

const SHELLS: ReadonlySet<string> = new Set(["sh", "bash", "dash", "zsh", "fish"]);

/** Whether nothing but a shell at its prompt is what was started: no command, and no script. */
function isShell({ argv, terminal, shell }: Started): boolean {
	const [program, ...rest] = argv.map((part) => commandLine([part]));
	const isProgram = SHELLS.has(program?.split("/").pop() ?? "");
	return shell === true || (terminal !== null && isProgram && rest.every((part) => /^-(-|[^c-]*$)/.test(part)));
}

/** What a process is called: by its name, "shell 3" where it is a shell and has no better one, else by its command line. */
export function processTitle(process: number, started: Started | null): string {
	if (!started) {
		return `process ${process}`;
	}
	const isNamed = started.name !== "" && started.name !== "shell";
	const name = started.name || commandLine(started.argv);
	return !isNamed && isShell(started) ? `shell ${process}` : plain(name, 60) || `process ${process}`;
}

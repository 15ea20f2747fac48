import { Unicode11Addon } from "@xterm/addon-unicode11";
import type { Terminal } from "@xterm/xterm";

/**
 * Have TERMINAL, made with `allowProposedApi`, count columns as the server's does (server/terminal/terminal.h): one code
 * point at a time, as Unicode 11 has it, which is near to what wcwidth() tells the programs inside. xterm.js's own default
 * (Unicode 6) draws emoji one column wide, and its add-on unicode-graphemes joins what programs count apart.
 */
export function countColumns(terminal: Terminal): void {
	terminal.loadAddon(new Unicode11Addon());
	terminal.unicode.activeVersion = "11";
}

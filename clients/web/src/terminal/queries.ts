import type { IDisposable, IFunctionIdentifier, Terminal } from "@xterm/xterm";

/**
 * Questions that a program asks its terminal. The server answers each, once; an emulator's own answer would be typed
 * into the program by everybody who watches, and again by each replay. So they never reach the emulator.
 */
const CSI_QUERIES: readonly IFunctionIdentifier[] = [
	{ final: "n" }, // device status, cursor position
	{ prefix: "?", final: "n" },
	{ final: "c" }, // device attributes, three of them
	{ prefix: ">", final: "c" },
	{ prefix: "=", final: "c" },
	{ intermediates: "$", final: "p" }, // a mode
	{ prefix: "?", intermediates: "$", final: "p" },
	{ prefix: ">", final: "q" }, // version
	{ final: "x" }, // terminal parameters
	{ prefix: "?", final: "u" }, // keyboard protocol
	{ prefix: "?", final: "S" }, // graphics
	{ intermediates: "$", final: "w" }, // presentation state
	{ intermediates: "*", final: "y" }, // checksum of an area
];
const DCS_QUERIES: readonly IFunctionIdentifier[] = [
	{ intermediates: "$", final: "q" }, // a setting
	{ intermediates: "+", final: "q" }, // termcap
];
/** Colours, and the clipboard: a question where they hold a `?`. */
const OSC_QUERIES: readonly number[] = [4, 5, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 21, 22, 52, 60, 1337];
/** Reports of the window (CSI t): from 11 on all but the two stacks of titles, 22 and 23. */
const FIRST_REPORT = 11;
const TITLES: ReadonlySet<number> = new Set([22, 23]);

/** Keep every query from TERMINAL's own handlers. To be called after its add-ons were loaded: what comes last is asked first. */
export function swallowQueries(terminal: Terminal): IDisposable {
	const { parser } = terminal;
	const swallow = (): boolean => true;
	const handlers = [
		...CSI_QUERIES.map((id) => parser.registerCsiHandler(id, swallow)),
		...DCS_QUERIES.map((id) => parser.registerDcsHandler(id, swallow)),
		...OSC_QUERIES.map((id) => parser.registerOscHandler(id, (data) => data.split(";").includes("?"))),
		parser.registerCsiHandler({ final: "t" }, ([first]) => {
			const what = typeof first === "number" ? first : 0;
			return what >= FIRST_REPORT && !TITLES.has(what);
		}),
	];
	return { dispose: () => handlers.forEach((handler) => handler.dispose()) };
}

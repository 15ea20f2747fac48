import type { Mark, Track } from "./recording.js";

/** A track as asciicast v3: output, sizes, notes and joins as markers, the exit. */
export function asciicast(
	track: Track,
	marks: readonly Mark[],
	size: { readonly cols: number; readonly rows: number },
	about: { readonly title: string; readonly createdUs: number },
): string {
	const header = {
		version: 3,
		term: { cols: size.cols, rows: size.rows, type: "xterm-256color" },
		timestamp: Math.floor(about.createdUs / 1_000_000),
		title: about.title,
	};
	const decoder = new TextDecoder();
	const events: { readonly t: number; readonly code: string; readonly data: string }[] = [];
	for (const step of track.steps) {
		if (step.kind !== "output") {
			events.push({ t: step.t, code: "r", data: `${step.cols}x${step.rows}` });
		}
		if (step.kind !== "resize") {
			events.push({ t: step.t, code: "o", data: decoder.decode(step.bytes, { stream: true }) });
		}
	}
	for (const { t, kind, text, process } of marks) {
		if (kind !== "exit" && (process === null || process === track.process.process)) {
			events.push({ t, code: "m", data: text });
		}
	}
	events.sort((one, other) => one.t - other.t);
	const begin = Math.min(track.process.startedUs || Infinity, events[0]?.t ?? 0);
	const code = track.process.ending?.exit_code;
	if (code !== undefined && code !== null) {
		events.push({ t: events.at(-1)?.t ?? begin, code: "x", data: String(code) });
	}
	let before = begin;
	const lines = events.map(({ t, code: kind, data }) => {
		const interval = Math.max(0, t - before) / 1_000_000;
		before = Math.max(before, t);
		return JSON.stringify([Number(interval.toFixed(6)), kind, data]);
	});
	return [JSON.stringify(header), ...lines, ""].join("\n");
}

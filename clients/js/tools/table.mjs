// Makes src/table.ts from protocol/table.def, the one table of the wire. `--check`: tell whether it is as it would be made.
import { readFileSync, writeFileSync } from "node:fs";

const source = new URL("../../../protocol/table.def", import.meta.url);
const target = new URL("../src/table.ts", import.meta.url);

const text = readFileSync(source, "utf8").replace(/^#.*$/gm, "");

function rows(macro) {
	const found = [...text.matchAll(new RegExp(`^${macro}\\((.*)\\)$`, "gm"))];
	return found.map(([, row]) => row.match(/"(?:[^"\\]|\\.)*"|[^,]+/g).map((field) => field.trim()));
}

function record(name, comment, entries) {
	const lines = entries.map(([key, value]) => `\t${key}: ${value},`);
	return [`/** ${comment} */`, `export const ${name} = {`, ...lines, "} as const;", ""].join("\n");
}

function union(name, comment, values) {
	return [
		`/** ${comment} */`,
		`export type ${name} =`,
		...values.map((v, i) => `\t| ${v}${i === values.length - 1 ? ";" : ""}`),
		"",
	].join("\n");
}

const frames = rows("FRAME").filter(([, , direction]) => direction !== "RESERVED");
const made = [
	"// Made by tools/table.mjs from protocol/table.def: change that, then `npm run table`.",
	"",
	record(
		"Kind",
		"The kinds of frames, by name.",
		frames.map(([name, number]) => [name, number]),
	),
	union(
		"ErrorCode",
		"What a server's error may be.",
		rows("ERROR_CODE").map((row) => row[1]),
	),
	union(
		"Reason",
		"Why a process is done.",
		rows("REASON").map((row) => row[1]),
	),
	record(
		"Stream",
		"The streams of a process.",
		rows("STREAM").map(([name, number]) => [name, number]),
	),
	record(
		"Role",
		"The roles, by name, with their rank.",
		rows("ROLE").map(([, rank, name]) => [JSON.parse(name), rank]),
	),
	record(
		"CloseCode",
		"WebSocket close codes.",
		rows("CLOSE_CODE").map(([name, number]) => [name, number]),
	),
	record(
		"Limit",
		"The wire's limits.",
		rows("LIMIT_VALUE").map(([name, value]) => [name, value]),
	),
].join("\n");

if (process.argv.includes("--check")) {
	if (readFileSync(target, "utf8") !== made) {
		console.error("src/table.ts is not what protocol/table.def says: run `npm run table`");
		process.exit(1);
	}
} else {
	writeFileSync(target, made);
}

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { decodeMessage, encodeMessage, SandbarError, type Frame } from "../src/index.js";
import { TOP } from "./server.js";

interface Part {
	readonly hex?: string;
	readonly times?: number;
	readonly before?: string;
	readonly numbers?: number;
	readonly after?: string;
}

interface Vector {
	readonly name: string;
	readonly hex?: string;
	readonly parts?: readonly Part[];
	readonly meaning?: unknown;
	readonly error?: string;
}

const FOLDER = join(TOP, "protocol/vectors");

function fromHex(hex: string): Buffer {
	return Buffer.from(hex, "hex");
}

function partBytes({ hex, times, before, numbers, after }: Part): Buffer {
	if (hex !== undefined) {
		return Buffer.concat(Array<Buffer>(times ?? 1).fill(fromHex(hex)));
	}
	const numbered = Array.from({ length: numbers ?? 0 }, (_, i) =>
		Buffer.concat([fromHex(before ?? ""), Buffer.from(String(i).padStart(4, "0")), fromHex(after ?? "")]),
	);
	return Buffer.concat(numbered);
}

function vectorBytes({ hex, parts }: Vector): Uint8Array {
	const whole = hex !== undefined ? fromHex(hex) : Buffer.concat((parts ?? []).map(partBytes));
	return new Uint8Array(whole);
}

/** A vector's meaning with bytes where it says `$bin`. */
function meant(value: unknown): unknown {
	if (Array.isArray(value)) {
		return value.map(meant);
	}
	if (typeof value !== "object" || value === null) {
		return value;
	}
	if ("$bin" in value) {
		return new Uint8Array(fromHex(String(value.$bin)));
	}
	return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, meant(inner)]));
}

/** What came, with plain bytes in place of views on the message. */
function told(value: unknown): unknown {
	if (value instanceof Uint8Array) {
		return new Uint8Array(value);
	}
	if (Array.isArray(value)) {
		return value.map(told);
	}
	if (typeof value !== "object" || value === null) {
		return value;
	}
	return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, told(inner)]));
}

/** Faults of what a request asks for are a server's to find: of those a client is never told by these bytes. */
const FORM_FAULTS = new Set([
	"malformed",
	"too_deep",
	"too_many",
	"too_large",
	"bad_utf8",
	"bad_type",
	"duplicate_key",
]);

for (const file of readdirSync(FOLDER).filter((name) => name.endsWith(".json"))) {
	const vectors = JSON.parse(readFileSync(join(FOLDER, file), "utf8")) as readonly Vector[];

	test(`${file}: good messages mean what they should`, () => {
		for (const vector of vectors.filter(({ error }) => error === undefined)) {
			const { channel, frames } = decodeMessage(vectorBytes(vector));
			if (vector.meaning !== undefined) {
				const values = [channel, ...frames.map(({ frame }) => told(frame))];
				assert.deepEqual(values, meant(vector.meaning), vector.name);
			}
		}
	});

	test(`${file}: what is said again means the same`, () => {
		for (const vector of vectors.filter(({ error, meaning }) => error === undefined && meaning !== undefined)) {
			const [channel, ...frames] = meant(vector.meaning) as [number, ...Frame[]];
			const again = decodeMessage(encodeMessage(channel, ...frames));
			assert.deepEqual(
				[again.channel, ...again.frames.map(({ frame }) => told(frame))],
				meant(vector.meaning),
				vector.name,
			);
		}
	});

	test(`${file}: bad messages are refused for what is wrong`, () => {
		for (const vector of vectors.filter(({ error }) => FORM_FAULTS.has(error ?? ""))) {
			assert.throws(
				() => decodeMessage(vectorBytes(vector)),
				(error: SandbarError) => error instanceof SandbarError && error.code === vector.error,
				vector.name,
			);
		}
	});
}

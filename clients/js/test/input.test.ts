import assert from "node:assert/strict";
import { test } from "node:test";
import { Input } from "../src/input.js";

const WINDOW = 1024 * 1024;

/** Input that goes on at 0, and what it sends: `offset:text`. */
function begun(): { readonly input: Input; readonly sent: string[] } {
	const sent: string[] = [];
	const input = new Input(0, (offset, bytes) => sent.push(`${offset}:${new TextDecoder().decode(bytes)}`));
	input.resume(0);
	return { input, sent };
}

function type(input: Input, text: string): void {
	void input.write(new TextEncoder().encode(text));
}

void test("a frame that was taken and not acknowledged yet is none behind a refused one", () => {
	const { input, sent } = begun();
	type(input, "a");
	type(input, "b");
	assert.equal(input.refuse(1), true, "b");
	type(input, "c");
	assert.equal(input.refuse(1), true, "c is refused for itself");
	type(input, "d");
	assert.deepEqual(sent, ["0:a", "1:b", "1:c", "1:d"]);
});

void test("the refusals of frames behind a refused one are none of what is typed now", () => {
	const { input } = begun();
	"abc".split("").forEach((key) => type(input, key));
	assert.equal(input.refuse(0), true);
	type(input, "d");
	assert.deepEqual([input.refuse(0), input.refuse(0)], [false, false], "b and c");
	assert.equal(input.isSettled, false, "d is on its way");
	assert.equal(input.refuse(0), true, "d");
});

void test("a server that lacks bytes gets them at once, one whose window is full when it has acknowledged", () => {
	const { input, sent } = begun();
	type(input, "ab");
	type(input, "cd");
	input.resend(0);
	assert.deepEqual(sent, ["0:ab", "2:cd", "0:ab", "2:cd"]);
	input.waitAt(2);
	input.resend(2);
	assert.equal(sent.length, 4);
	input.acknowledge(2);
	assert.deepEqual(sent.slice(4), ["2:cd"]);
});

void test("who waits for input that nothing takes any more goes on", async () => {
	const { input } = begun();
	const waiting = input.write(new Uint8Array(2 * WINDOW));
	input.stop();
	await waiting;
	assert.equal(input.isSettled, true);
});

import { Decoder, Encoder } from "@msgpack/msgpack";
import { spans } from "./check.js";
import { SandbarError } from "./error.js";

/** Both are free again when a call is over, also one that threw, and what they give is a copy or a view on the message. */
const ENCODER = new Encoder({ ignoreUndefined: true });
const DECODER = new Decoder();

/** A frame: an array whose first element is its kind (on channel 0: the form of the request). */
export type Frame = readonly [number, ...unknown[]];

/** A frame as it came, with its length on the wire: what credit counts. */
export interface Received {
	readonly frame: Frame;
	readonly bytes: number;
}

export interface Message {
	readonly channel: number;
	readonly frames: readonly Received[];
}

/** What a WebSocket message says. `bin` values are views on BYTES. Throws SandbarError where it breaks PROTOCOL.md §2. */
export function decodeMessage(bytes: Uint8Array): Message {
	const [head, ...rest] = spans(bytes);
	const channel = head && DECODER.decode(bytes.subarray(head.from, head.to));
	if (typeof channel !== "number" || !Number.isInteger(channel) || channel < 0 || rest.length === 0) {
		throw new SandbarError("invalid_frame", "a message is a channel number and frames");
	}
	const frames = rest.map(({ from, to }) => ({
		frame: asFrame(channel, DECODER.decode(bytes.subarray(from, to))),
		bytes: to - from,
	}));
	return { channel, frames };
}

/** On channel 0 what is wrong with a frame is a matter of requests. */
function asFrame(channel: number, value: unknown): Frame {
	const isArray = Array.isArray(value);
	if (!isArray || (channel !== 0 && !(Number.isInteger(value[0]) && (value[0] as number) >= 0))) {
		throw new SandbarError("invalid_frame", "a frame is an array that begins with an unsigned integer");
	}
	return value as unknown as Frame;
}

/** FRAMES for CHANNEL as the bytes of one message. */
export function encodeMessage(channel: number, ...frames: readonly Frame[]): Uint8Array<ArrayBuffer> {
	const parts = [channel, ...frames].map((value) => ENCODER.encode(value));
	const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
	let at = 0;
	for (const part of parts) {
		whole.set(part, at);
		at += part.length;
	}
	return whole;
}

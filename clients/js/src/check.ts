import { Limit } from "./table.js";
import { SandbarError } from "./error.js";

/** Where a value stands in a message: bytes from…to. */
export interface Span {
	readonly from: number;
	readonly to: number;
}

/**
 * Find the values of a message (PROTOCOL.md §2) without making one: each one's place, so that a frame's length is known
 * for credit, and so that nothing is decoded that is nested too deep or announces more than is there. Throws SandbarError.
 */
export function spans(bytes: Uint8Array): Span[] {
	const walk = new Walk(bytes);
	const found: Span[] = [];
	while (walk.position < bytes.length) {
		const from = walk.position;
		walk.value(0);
		found.push({ from, to: walk.position });
	}
	if (found.length === 0) {
		throw new SandbarError("malformed", "a message without a byte");
	}
	return found;
}

type Form = "int" | "str" | "bin" | "array" | "map" | "plain" | "ext";

interface Head {
	readonly form: Form;
	/** Bytes of payload behind the head, or elements of a container. */
	readonly count: number;
}

/** The heads c0…df that are not fixed-size families: form, and the bytes of their number. */
const HEADS: Readonly<Record<number, readonly [Form, number]>> = {
	0xc4: ["bin", 1],
	0xc5: ["bin", 2],
	0xc6: ["bin", 4],
	0xd9: ["str", 1],
	0xda: ["str", 2],
	0xdb: ["str", 4],
	0xdc: ["array", 2],
	0xdd: ["array", 4],
	0xde: ["map", 2],
	0xdf: ["map", 4],
};
/** Numbers, by head: the bytes behind it. */
const NUMBERS: Readonly<Record<number, number>> = {
	0xca: 4,
	0xcb: 8,
	0xcc: 1,
	0xcd: 2,
	0xce: 4,
	0xcf: 8,
	0xd0: 1,
	0xd1: 2,
	0xd2: 4,
	0xd3: 8,
};
const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const LARGEST = BigInt(Number.MAX_SAFE_INTEGER);

class Walk {
	position = 0;
	private nodes = 0;
	private readonly view: DataView;

	constructor(private readonly bytes: Uint8Array) {
		this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	}

	value(depth: number): void {
		if (++this.nodes > Limit.NODES) {
			throw new SandbarError("too_many", `more than ${Limit.NODES} values in a message`);
		}
		const { form, count } = this.head();
		if (form === "array" || form === "map") {
			this.container(form, count, depth + 1);
			return;
		}
		this.need(count);
		if (form === "str") {
			this.text(count);
		} else if (form === "ext") {
			throw new SandbarError("bad_type", "an extension type");
		}
		this.position += count;
	}

	private container(form: Form, count: number, depth: number): void {
		if (depth > Limit.DEPTH) {
			throw new SandbarError("too_deep", `nested deeper than ${Limit.DEPTH}`);
		}
		this.need(form === "map" ? 2 * count : count);
		if (form === "array") {
			for (let i = 0; i < count; i++) {
				this.value(depth);
			}
			return;
		}
		if (count > Limit.MAP_KEYS) {
			throw new SandbarError("too_many", `more than ${Limit.MAP_KEYS} keys in a map`);
		}
		const keys = new Set<string>();
		for (let i = 0; i < count; i++) {
			this.key(keys, depth);
			this.value(depth);
		}
	}

	private key(keys: Set<string>, depth: number): void {
		const from = this.position;
		const first = this.bytes[from] ?? 0;
		this.value(depth);
		if (!(first >= 0xa0 && first <= 0xbf) && !(first >= 0xd9 && first <= 0xdb)) {
			throw new SandbarError("bad_type", "a map key that is not a string");
		}
		const width = first <= 0xbf ? 1 : 1 + (1 << (first - 0xd9));
		const key = UTF8.decode(this.bytes.subarray(from + width, this.position));
		if (keys.has(key)) {
			throw new SandbarError("duplicate_key", "a key that stands twice in a map");
		}
		keys.add(key);
	}

	private text(count: number): void {
		try {
			UTF8.decode(this.bytes.subarray(this.position, this.position + count));
		} catch {
			throw new SandbarError("bad_utf8", "a string that is not UTF-8");
		}
	}

	private need(count: number): void {
		if (this.position + count > this.bytes.length) {
			throw new SandbarError("malformed", "the message ends inside a value");
		}
	}

	private head(): Head {
		this.need(1);
		const first = this.bytes[this.position++] ?? 0;
		if (first < 0x80 || first >= 0xe0) {
			return { form: "int", count: 0 };
		}
		if (first < 0x90) {
			return { form: "map", count: first & 0x0f };
		}
		if (first < 0xa0) {
			return { form: "array", count: first & 0x0f };
		}
		return first < 0xc0 ? { form: "str", count: first & 0x1f } : this.wideHead(first);
	}

	private wideHead(first: number): Head {
		const row = HEADS[first];
		if (row) {
			const [form, width] = row;
			this.need(width);
			const count = this.unsigned(width);
			this.position += width;
			return { form, count };
		}
		const width = NUMBERS[first];
		if (width !== undefined) {
			return this.number(first, width);
		}
		if (first === 0xc1) {
			throw new SandbarError("malformed", "the byte c1");
		}
		return { form: first === 0xc0 || first === 0xc2 || first === 0xc3 ? "plain" : "ext", count: 0 };
	}

	private number(first: number, width: number): Head {
		this.need(width);
		if (first === 0xcf || first === 0xd3) {
			const wide = first === 0xcf ? this.view.getBigUint64(this.position) : this.view.getBigInt64(this.position);
			if (wide > LARGEST || wide < -LARGEST) {
				throw new SandbarError("too_large", "an integer beyond 2^53-1");
			}
		}
		return { form: "int", count: width };
	}

	private unsigned(width: number): number {
		if (width === 1) {
			return this.view.getUint8(this.position);
		}
		return width === 2 ? this.view.getUint16(this.position) : this.view.getUint32(this.position);
	}
}

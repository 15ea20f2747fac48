import type { Connection } from "./connection.js";
import { Emitter } from "./emitter.js";
import { SandbarError } from "./error.js";
import {
	isEventKind,
	nameFrame,
	type ChannelFrames,
	type FrameEvents,
	type JournalEvents,
	type NamedFrame,
} from "./events.js";
import { Input } from "./input.js";
import type { Received } from "./message.js";
import { Meter } from "./meter.js";
import type { Result } from "./requests.js";
import { Kind } from "./table.js";
import type { Ending, Participant, ProcessInfo, RoleName, StreamName, TerminalInfo } from "./types.js";

export interface ChannelOptions {
	/** The last `seq` that is known; 0 = everything there is (the default); null = only what happens from now on. */
	readonly after?: number | null;
	readonly mode?: "live" | "lossless";
	/** Shown to others. */
	readonly name?: string;
	readonly role?: RoleName;
	/** Only these processes' output. */
	readonly processes?: readonly number[];
	/** Bytes of events: more behind `after` is not replayed, and a gap stands for it. */
	readonly replay?: number;
	/** Of terminals at most so many screens a second, and no output. */
	readonly screens?: number;
	/** Take no more than is drawn: whoever hears `output` and `screen` calls `drawn()` of them (PROTOCOL.md §4.4). */
	readonly paced?: boolean;
}

/** The answer of `session.attach`. */
export interface Attached {
	readonly channel: number;
	readonly participant: number;
	readonly colour: number;
	readonly first: number;
	readonly last: number;
	readonly role: RoleName;
	readonly stdin: readonly (readonly [number, number])[];
	readonly participants: readonly Participant[];
	readonly terminals: readonly TerminalInfo[];
}

/** To be called when the bytes were drawn, by who paces a channel. */
interface Drawable {
	readonly drawn: () => void;
}

export type ChannelEvents = Omit<FrameEvents, "output"> & {
	output: JournalEvents["output"] & Drawable;
	/** Attached, for the first time or again after a cut. */
	attached: Attached;
	/** The connection went. What comes next is `attached` again, or `closed`. */
	cut: undefined;
	/** No frame follows. `error`: why, when it was not the session's end, a removal or `detach()`. */
	closed: {
		readonly reason: "session_ended" | "removed" | "detached" | "error";
		readonly error: SandbarError | null;
	};
	/** Input was refused and is lost: the role does not allow it, somebody else drives, or it has exited. */
	inputRefused: ChannelFrames["refused"];
};

const REFUSALS: ReadonlySet<string> = new Set(["forbidden", "not_driver"]);
const DEAD_ENDS: ReadonlySet<string> = new Set(["process_exited", "stdin_closed", "no_stdin", "not_found"]);
const STREAMS: readonly StreamName[] = ["stdout", "stderr", "tty"];
const ENCODER = new TextEncoder();
const NOTHING_DRAWN = (): void => undefined;

/**
 * One session's events, each once and in order, over any number of connections: after a cut it is attached behind the
 * last event that came. What is missing was announced by `gap`.
 */
export class Channel extends Emitter<ChannelEvents> {
	/** Of the newest answer of `session.attach`. */
	attachment: Attached | null = null;
	/** The newest event that came; null = none yet, and none was asked for. */
	last: number | null;
	isClosed = false;
	role: RoleName = "viewer";

	private number = 0;
	private readonly offsets = new Map<string, number>();
	private readonly inputs = new Map<number, Input>();
	private readonly ends = new Map<number, number>();
	private readonly sizes = new Map<number, readonly [number, number]>();
	private readonly meter: Meter | null;

	constructor(
		private readonly connection: Connection,
		readonly session: string,
		private readonly options: ChannelOptions = {},
	) {
		super();
		this.last = options.after === undefined ? 0 : options.after;
		this.meter = options.paced
			? new Meter((credit) => this.connection.send(this.number, [Kind.CREDIT, credit]))
			: null;
	}

	/** Attach, and stay attached. Resolves at the first time, rejects when that is refused. */
	open(): Promise<Attached> {
		if (this.isClosed) {
			return Promise.reject(closed()); // it tells nothing any more
		}
		return new Promise((resolve, reject) => {
			const offAttached = this.on("attached", (attached) => {
				offAttached();
				offClosed();
				resolve(attached);
			});
			const offClosed = this.on("closed", ({ error }) => {
				offAttached();
				offClosed();
				reject(error ?? closed());
			});
			this.connection.adopt(this);
		});
	}

	get participant(): number {
		return this.attachment?.participant ?? 0;
	}

	/** Send input. Resolves when the process's input has it, or refused it (`inputRefused`), or when either is over. */
	write(process: number, bytes: Uint8Array | string): Promise<void> {
		const data = typeof bytes === "string" ? ENCODER.encode(bytes) : bytes;
		return this.isClosed ? Promise.resolve() : this.input(process).write(data);
	}

	/** The end of a process's input, once what stands before it was taken. */
	async endInput(process: number): Promise<void> {
		if (this.isClosed) {
			return;
		}
		const input = this.input(process);
		await input.settled();
		if (this.inputs.get(process) !== input) {
			return; // it is over
		}
		this.ends.set(process, input.offset);
		this.connection.send(this.number, [Kind.EOF, process, input.offset]);
	}

	/** The size of this participant's window on a terminal; it is told again after a cut. */
	resize(process: number, cols: number, rows: number): void {
		this.sizes.set(process, [cols, rows]);
		if (this.number && this.role !== "viewer") {
			this.connection.send(this.number, [Kind.RESIZE, process, cols, rows]);
		}
	}

	/** Call one of the methods that take a channel: `terminal.take`, `.release`, `.grant`, `.request`. */
	call(method: string, params: Readonly<Record<string, unknown>>): Promise<Result> {
		return this.connection.call(method, { ...params, channel: this.number });
	}

	async detach(): Promise<void> {
		if (this.isClosed) {
			return;
		}
		const number = this.number;
		this.end("detached", null);
		if (number) {
			await this.connection.call("session.detach", { channel: number }).catch((error: unknown) => {
				if (!(error instanceof SandbarError) || error.code !== "not_found") {
					throw error; // else the server closed it at the same moment
				}
			});
		}
	}

	/* --- what the connection tells ------------------------------------------------------------------------ */

	attach(): void {
		const { mode, name, role, processes, replay, screens } = this.options;
		const credit = this.meter?.begin();
		const params = {
			session: this.session,
			after: this.last,
			mode,
			name,
			role,
			processes,
			replay,
			screens,
			credit,
		};
		this.connection.request("session.attach", params, {
			done: (result) => this.bound(result as unknown as Attached),
			failed: (error) => {
				if (error.code !== "cut") {
					this.fail(error);
				}
			},
		});
	}

	cut(): void {
		const wasAttached = this.number !== 0;
		this.number = 0;
		this.inputs.forEach((input) => input.cut());
		if (wasAttached) {
			this.emit("cut", undefined);
		}
	}

	fail(error: SandbarError): void {
		const isEnd = error.code === "session_ended";
		this.end(isEnd ? "session_ended" : "error", isEnd ? null : error);
	}

	closedBy(reason: string): void {
		this.end(reason === "removed" ? "removed" : "session_ended", null);
	}

	take(number: number, { frame, bytes }: Received): void {
		if (number !== this.number || this.isClosed) {
			return;
		}
		const isEvent = isEventKind(frame[0]);
		const drawn = isEvent ? this.count(frame[0], number, bytes) : NOTHING_DRAWN;
		if (isEvent && !this.advance(frame[1])) {
			return;
		}
		const named = nameFrame(frame);
		if (named) {
			this.dispatch(named, drawn);
		}
	}

	private bound(attached: Attached): void {
		if (this.isClosed) {
			void this.connection.call("session.detach", { channel: attached.channel }).catch(() => undefined);
			return;
		}
		this.number = attached.channel;
		this.attachment = attached;
		this.role = attached.role;
		this.connection.bind(attached.channel, this);
		const accepted = new Map(attached.stdin);
		this.inputs.forEach((input, process) => input.resume(accepted.get(process) ?? 0));
		this.ends.forEach((offset, process) => this.connection.send(this.number, [Kind.EOF, process, offset]));
		this.sendSizes();
		this.emit("attached", attached);
	}

	private end(reason: ChannelEvents["closed"]["reason"], error: SandbarError | null): void {
		if (this.isClosed) {
			return;
		}
		this.isClosed = true;
		this.number = 0;
		this.connection.forget(this);
		[...this.inputs.keys()].forEach((process) => this.stopInput(process));
		this.emit("closed", { reason, error });
	}

	/* --- frames ------------------------------------------------------------------------------------------- */

	/** Count a frame against the credit: output when it is drawn, all else at once. */
	private count(kind: number, number: number, bytes: number): () => void {
		const { meter } = this;
		if (!meter) {
			return NOTHING_DRAWN;
		}
		meter.arrived(bytes);
		let isDrawn = false;
		const drawn = (): void => {
			if (!isDrawn && number === this.number) {
				isDrawn = true;
				meter.drawn(bytes);
			}
		};
		if (kind !== Kind.OUTPUT) {
			drawn();
		}
		return drawn;
	}

	/** Each event once, in order. False: it came before. */
	private advance(seq: unknown): boolean {
		if (typeof seq !== "number" || seq < 1) {
			throw new SandbarError("protocol", "an event without a number");
		}
		const isWhole = !this.options.processes && !this.options.screens;
		if (this.last !== null && seq <= this.last) {
			return false;
		}
		if (isWhole && this.last !== null && seq !== this.last + 1) {
			throw new SandbarError("protocol", `event ${seq} came after ${this.last}`);
		}
		this.last = seq;
		return true;
	}

	private dispatch(named: NamedFrame, drawn: () => void): void {
		switch (named.name) {
			case "output":
				this.checkOffset(named.event);
				this.emit("output", { ...named.event, drawn });
				return;
			case "gap":
				this.last = Math.max(this.last ?? 0, named.event.to);
				this.offsets.clear();
				break;
			case "state":
				named.event.processes.forEach((one) => this.restate(one));
				break;
			case "exited":
				this.exited(named.event.process, named.event.ending);
				break;
			case "streamClosed":
				this.offsets.delete(key(named.event.process, named.event.stream));
				break;
			case "screen":
				this.offsets.set(key(named.event.process, "tty"), named.event.offset);
				break;
			case "participant":
				if (named.event.participant === this.participant) {
					this.become(named.event.role);
				}
				break;
			case "acknowledged":
				this.inputs.get(named.event.process)?.acknowledge(named.event.offset);
				break;
			case "refused":
				this.refused(named.event);
				break;
			default:
		}
		this.emit(named.name, named.event);
	}

	/** Where no offset is known, the output may begin anywhere: behind a gap, or in the middle of a session. */
	private checkOffset({ process, stream, offset, bytes }: JournalEvents["output"]): void {
		const expected = this.offsets.get(key(process, stream));
		if (expected !== undefined && expected !== offset) {
			throw new SandbarError(
				"protocol",
				`output of process ${process} at ${offset} of ${stream}, where ${expected} is next`,
			);
		}
		this.offsets.set(key(process, stream), offset + bytes.length);
	}

	private restate({ process, offsets, exited }: ProcessInfo): void {
		for (const [stream, offset] of Object.entries(offsets)) {
			this.offsets.set(key(process, stream as StreamName), offset as number);
		}
		if (exited) {
			this.exited(process, exited);
		}
	}

	/** Nothing is kept of a process that has ended, but for where the streams are that others hold open. */
	private exited(process: number, { streams_open: open }: Ending): void {
		STREAMS.filter((stream) => !open.includes(stream)).forEach((stream) =>
			this.offsets.delete(key(process, stream)),
		);
		this.stopInput(process);
		this.sizes.delete(process);
	}

	private stopInput(process: number): void {
		this.inputs.get(process)?.stop();
		this.inputs.delete(process);
		this.ends.delete(process);
	}

	/** A viewer's sizes count once he is more. */
	private become(role: RoleName): void {
		const wasViewer = this.role === "viewer";
		this.role = role;
		if (wasViewer && role !== "viewer") {
			this.sendSizes();
		}
	}

	private sendSizes(): void {
		this.sizes.forEach(([cols, rows], process) => this.resize(process, cols, rows));
	}

	private input(process: number): Input {
		const known = this.inputs.get(process);
		if (known) {
			return known;
		}
		const accepted = new Map(this.attachment?.stdin ?? []).get(process) ?? 0;
		const input = new Input(accepted, (offset, bytes) =>
			this.connection.send(this.number, [Kind.STDIN, process, offset, bytes]),
		);
		if (this.number) {
			input.resume(accepted);
		}
		this.inputs.set(process, input);
		return input;
	}

	private refused(refusal: ChannelFrames["refused"]): void {
		const { code, data, process } = refusal;
		const input = this.inputs.get(process);
		if (code === "stdin_window" && input) {
			input.waitAt(Number(data.accepted));
		} else if (code === "stdin_gap" && input) {
			input.resend(Number(data.expected));
		} else if (code === "stdin_unknown" && input) {
			input.resume(Number(data.to));
		} else if (REFUSALS.has(code) && input && typeof data.expected === "number") {
			if (input.refuse(data.expected)) {
				this.emit("inputRefused", refusal);
			}
		} else if (DEAD_ENDS.has(code) && input) {
			const isLost = !input.isSettled; // else it answers an end of input that was sent again
			this.stopInput(process);
			if (isLost) {
				this.emit("inputRefused", refusal);
			}
		}
	}
}

function closed(): SandbarError {
	return new SandbarError("closed", "the channel was closed");
}

function key(process: number, stream: StreamName): string {
	return `${process}/${stream}`;
}

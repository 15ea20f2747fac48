import { Backoff } from "./backoff.js";
import type { Channel } from "./channel.js";
import { Emitter } from "./emitter.js";
import { SandbarError, asError } from "./error.js";
import { decodeMessage, encodeMessage, type Frame, type Received } from "./message.js";
import { Requests, remoteError, type Outcome, type Params, type Result } from "./requests.js";
import { CloseCode, Limit } from "./table.js";
import { SUBPROTOCOL, socketUrl, type Dial, type Socket } from "./transport.js";
import type { Welcome } from "./types.js";

export interface ConnectionOptions {
	/** Where the server is: "ws://host:port", "https://…", or "host:port". */
	readonly url: string;
	readonly token: string;
	/** Name and version of the program, at most 64 bytes. */
	readonly client?: string;
	/** 16 bytes, kept over reconnects; random where not given. */
	readonly clientId?: Uint8Array;
	/** Try again also when the first connection fails. Else that is an error. */
	readonly persist?: boolean;
	/** After a cut: how long to try; 0 = for ever. */
	readonly giveUpMs?: number;
}

/**
 * - `connecting`  for the first time
 * - `connected`
 * - `cut`         it went, or could not be made; it is tried again at `retryAt`
 * - `given_up`    it will not be tried again: `why` says why
 * - `closed`      `close()` was called
 */
export type ConnectionState = "connecting" | "connected" | "cut" | "given_up" | "closed";

export interface ConnectionEvents {
	state: { readonly state: ConnectionState; readonly why: SandbarError | null };
	/** The server ends all sessions in this many milliseconds. */
	stopping: { readonly inMs: number };
	/** What was wrong with a message that named no request. */
	fault: SandbarError;
}

/** With these there is no use in coming again. */
const FINAL: ReadonlySet<number> = new Set([
	CloseCode.TEXT,
	CloseCode.UNPARSABLE,
	CloseCode.NO_HELLO,
	CloseCode.NOT_ALLOWED,
	CloseCode.REMOVED,
]);
/** `hello` may be answered with these for a while. */
const PASSING: ReadonlySet<string> = new Set(["unavailable", "limit", "no_space", "internal", "cut"]);
const SILENT_MS = 30_000;
const PROBE_MS = 10_000;
const HELLO_MS = 15_000;

/**
 * One connection, kept over cuts: it connects again by itself, says `hello` with the same client id, attaches its
 * channels where they were and sends again the input that was not acknowledged.
 */
export class Connection extends Emitter<ConnectionEvents> {
	state: ConnectionState = "connecting";
	/** When the next try comes, by Date.now(); 0 = none is planned. */
	retryAt = 0;
	/** Of the newest `hello`. */
	welcome: Welcome | null = null;
	readonly clientId: Uint8Array;

	private socket: Socket | null = null;
	private readonly requests = new Requests((frame) => this.transmit(encodeMessage(0, frame)));
	private readonly attached = new Map<number, Channel>();
	private readonly channels = new Set<Channel>();
	private readonly backoff = new Backoff();
	private retry: ReturnType<typeof setTimeout> | undefined;
	private pulse: ReturnType<typeof setInterval> | undefined;
	private heardAt = 0;
	private cutAt = 0;

	constructor(
		private readonly options: ConnectionOptions,
		private readonly dial: Dial,
	) {
		super();
		this.clientId = options.clientId ?? crypto.getRandomValues(new Uint8Array(16));
	}

	/** Connect. Resolves when the server has accepted the token, rejects when it never will. */
	open(): Promise<Welcome> {
		return new Promise((resolve, reject) => {
			const off = this.on("state", ({ state, why }) => {
				if (state === "connected" && this.welcome) {
					resolve(this.welcome);
				} else if (state === "given_up" || state === "closed") {
					reject(why ?? closed());
				} else {
					return;
				}
				off();
			});
			this.connect();
		});
	}

	/** Call a method. Without a connection it waits for one. Where SIGNAL is aborted already, it is not sent at all. */
	call(method: string, params: Params = {}, signal?: AbortSignal): Promise<Result> {
		if (signal?.aborted) {
			return Promise.reject(new SandbarError("cancelled", "the request was cancelled"));
		}
		return new Promise((resolve, reject) => {
			const id = this.request(method, params, { done: resolve, failed: reject });
			signal?.addEventListener("abort", () => this.requests.cancel(id), { once: true });
		});
	}

	/** The same with callbacks, which are called before anything that came behind the answer is looked at. */
	request(method: string, params: Params, outcome: Outcome): number {
		const id = this.requests.add(method, params, outcome);
		if (this.isOver) {
			this.requests.fail(closed());
		} else if (this.state === "connected") {
			this.requests.flush();
		}
		return id;
	}

	/** Close it for good; nothing is told to channels. Sessions run on. */
	close(): void {
		if (this.state !== "closed") {
			this.finish("closed", closed());
		}
	}

	/** Do not wait for the next try: the network may be back. */
	retryNow(): void {
		if (this.state === "cut" && this.retry !== undefined) {
			this.connect();
		}
	}

	/** Cut the connection as a network would, and resume. For tests of programs that must survive it. */
	cut(): void {
		this.lost(new SandbarError("cut", "cut() was called"));
	}

	/** It is not there, and never will be again. */
	private get isOver(): boolean {
		return this.state === "given_up" || this.state === "closed";
	}

	/* --- what channels need ------------------------------------------------------------------------------- */

	/** A channel that is to be attached, now and after each cut; where there will be no connection any more, it fails. */
	adopt(channel: Channel): void {
		if (this.isOver) {
			channel.fail(closed());
			return;
		}
		this.channels.add(channel);
		if (this.state === "connected") {
			channel.attach();
		}
	}

	/** Channel NUMBER of this connection is CHANNEL's from here on. */
	bind(number: number, channel: Channel): void {
		this.attached.set(number, channel);
	}

	forget(channel: Channel): void {
		this.channels.delete(channel);
		for (const [number, bound] of this.attached) {
			if (bound === channel) {
				this.attached.delete(number);
			}
		}
	}

	/** Send frames on a channel; without a connection they are dropped, and are the channel's to send again. */
	send(number: number, ...frames: readonly Frame[]): void {
		if (this.state === "connected") {
			this.transmit(encodeMessage(number, ...frames));
		}
	}

	/* --- the socket --------------------------------------------------------------------------------------- */

	private connect(): void {
		clearTimeout(this.retry);
		this.retry = undefined;
		this.retryAt = 0;
		let socket: Socket;
		try {
			socket = this.dial(socketUrl(this.options.url), SUBPROTOCOL);
		} catch (thrown) {
			this.finish("given_up", new SandbarError("connect", asError(thrown).message));
			return;
		}
		this.socket = socket;
		socket.binaryType = "arraybuffer";
		this.heardAt = Date.now();
		this.watchPulse();
		socket.onopen = () => this.greet(socket);
		socket.onerror = () => undefined; // a close follows
		socket.onmessage = (event: { data: unknown }) => {
			if (socket === this.socket) {
				this.receive(event.data);
			}
		};
		socket.onclose = (event: { code: number; reason: string }) => {
			if (socket === this.socket) {
				this.closedBy(event.code, event.reason);
			}
		};
	}

	private greet(socket: Socket): void {
		const { token, client } = this.options;
		const params = { token, version: 1, client: client ?? "", client_id: this.clientId };
		const id = this.requests.add("hello", params, {
			done: (result) => this.greeted(result as unknown as Welcome),
			failed: (error) => {
				if (socket === this.socket) {
					this.refused(error);
				}
			},
		});
		this.requests.first(id);
	}

	private greeted(welcome: Welcome): void {
		this.welcome = welcome;
		this.backoff.reset();
		this.cutAt = 0;
		this.become("connected", null);
		for (const channel of this.channels) {
			channel.attach();
		}
		this.requests.flush();
	}

	private refused(error: SandbarError): void {
		if (PASSING.has(error.code)) {
			this.lost(error);
		} else {
			this.finish("given_up", error);
		}
	}

	private transmit(bytes: Uint8Array<ArrayBuffer>): void {
		if (bytes.length > Limit.MESSAGE_BYTES) {
			throw new SandbarError("usage", `a message may have ${Limit.MESSAGE_BYTES} bytes`);
		}
		this.socket?.send(bytes);
	}

	private receive(data: unknown): void {
		this.heardAt = Date.now();
		try {
			if (!(data instanceof ArrayBuffer)) {
				throw new SandbarError("protocol", "a text message");
			}
			const { channel, frames } = decodeMessage(new Uint8Array(data));
			if (channel === 0) {
				frames.forEach(({ frame }) => this.control(frame));
			} else {
				this.deliver(channel, frames);
			}
		} catch (thrown) {
			this.finish("given_up", new SandbarError("protocol", asError(thrown).message));
		}
	}

	private deliver(number: number, frames: readonly Received[]): void {
		const channel = this.attached.get(number);
		for (const received of frames) {
			channel?.take(number, received);
		}
	}

	private control(frame: Frame): void {
		if (frame[0] === 1) {
			this.requests.answer(frame);
		} else if (frame[0] === 2) {
			const [, method, params] = frame;
			this.notice(String(method), ((params as unknown[])[0] ?? {}) as Params);
		} else {
			throw new SandbarError("protocol", "a frame of channel 0 that is neither an answer nor a notice");
		}
	}

	private notice(method: string, params: Params): void {
		if (method === "error") {
			this.emit("fault", remoteError(params));
		} else if (method === "server.stopping") {
			this.emit("stopping", { inMs: Number(params.in_ms) });
		} else if (method === "channel.closed") {
			this.attached.get(Number(params.channel))?.closedBy(String(params.reason));
		}
	}

	/* --- cuts --------------------------------------------------------------------------------------------- */

	private closedBy(code: number, reason: string): void {
		const told = reason || `the connection was closed (${code})`;
		if (FINAL.has(code)) {
			const wire = code === CloseCode.REMOVED || code === CloseCode.NOT_ALLOWED ? "forbidden" : "protocol";
			this.finish("given_up", new SandbarError(wire, told, { close: code }));
		} else {
			this.lost(new SandbarError(this.welcome ? "cut" : "connect", told, { close: code }));
		}
	}

	private lost(why: SandbarError): void {
		this.drop();
		const now = Date.now();
		this.cutAt ||= now;
		const { persist, giveUpMs } = this.options;
		const isLate = giveUpMs !== undefined && giveUpMs > 0 && now - this.cutAt >= giveUpMs;
		if (isLate || (!this.welcome && !persist)) {
			this.finish("given_up", why);
			return;
		}
		const delay = this.backoff.next();
		this.retryAt = now + delay;
		this.retry = setTimeout(() => this.connect(), delay);
		this.become("cut", why);
	}

	/** Let go of the socket, whatever state it is in. */
	private drop(): void {
		const socket = this.socket;
		this.socket = null;
		clearInterval(this.pulse);
		clearTimeout(this.retry);
		this.retry = undefined;
		this.retryAt = 0;
		socket?.close(CloseCode.DONE);
		this.attached.clear();
		const before = this.state;
		this.state = before === "connected" ? "cut" : before;
		this.requests.cut();
		this.channels.forEach((channel) => channel.cut());
	}

	private finish(state: "given_up" | "closed", why: SandbarError): void {
		this.drop();
		this.become(state, why);
		this.requests.fail(why);
		[...this.channels].forEach((channel) => channel.fail(why));
	}

	private become(state: ConnectionState, why: SandbarError | null): void {
		this.state = state;
		this.emit("state", { state, why });
	}

	/** A page cannot see the server's pings: who has heard nothing for long asks for a sign of life. */
	private watchPulse(): void {
		let askedAt = 0;
		clearInterval(this.pulse);
		this.pulse = setInterval(() => {
			const now = Date.now();
			const silent = now - this.heardAt;
			if (this.state !== "connected") {
				if (silent > HELLO_MS) {
					this.lost(new SandbarError("connect", "the server does not answer"));
				}
			} else if (silent < SILENT_MS) {
				askedAt = 0;
			} else if (askedAt === 0) {
				askedAt = now;
				this.request("template.list", {}, { done: () => undefined, failed: () => undefined });
			} else if (now - askedAt > PROBE_MS) {
				this.lost(new SandbarError("cut", "the server does not answer"));
			}
		}, 1000);
		(this.pulse as { unref?: () => void }).unref?.();
	}
}

function closed(): SandbarError {
	return new SandbarError("closed", "the connection was closed");
}

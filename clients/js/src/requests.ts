import { SandbarError, asError } from "./error.js";
import { Limit, type ErrorCode } from "./table.js";
import type { Frame } from "./message.js";

export type Params = Readonly<Record<string, unknown>>;
export type Result = Readonly<Record<string, unknown>>;

/** What becomes of a request: exactly one of the two is called, once. */
export interface Outcome {
	readonly done: (result: Result) => void;
	readonly failed: (error: SandbarError) => void;
}

interface Request extends Outcome {
	readonly id: number;
	readonly method: string;
	readonly params: Params;
	isOpen: boolean;
}

/** What may be carried out twice without harm is sent again after a cut. */
const REPEATABLE: ReadonlySet<string> = new Set([
	"session.list",
	"session.info",
	"session.shares",
	"process.list",
	"process.wait",
	"process.kill",
	"session.detach",
	"template.list",
	"token.list",
	"server.info",
]);

/** Requests of a connection that are open, or wait until it can take them. */
export class Requests {
	private readonly requests = new Map<number, Request>();
	private lastId = 0;
	private open = 0;

	/** SEND writes frames of channel 0; null while nothing can be sent. */
	constructor(private readonly send: (frame: Frame) => void) {}

	/** Add a request; the number is what cancels it. It is sent by `flush()`. */
	add(method: string, params: Params, outcome: Outcome): number {
		this.lastId = this.lastId >= 0xffff_ffff ? 1 : this.lastId + 1;
		const id = this.lastId;
		this.requests.set(id, { id, method, params, ...outcome, isOpen: false });
		return id;
	}

	/** Send what waits, as far as the server takes it. */
	flush(): void {
		for (const request of this.requests.values()) {
			if (!request.isOpen && this.open < Limit.OPEN_REQUESTS) {
				this.dispatch(request);
			}
		}
	}

	/** Send this one before all that waits. */
	first(id: number): void {
		const request = this.requests.get(id);
		if (request) {
			this.dispatch(request);
		}
	}

	cancel(id: number): void {
		const request = this.requests.get(id);
		if (request?.isOpen) {
			this.send([3, id]);
		} else if (request) {
			this.requests.delete(id);
			request.failed(new SandbarError("cancelled", "the request was cancelled"));
		}
	}

	/** A frame [1, id, error, result]. */
	answer(frame: Frame): void {
		const [, id, error, result] = frame;
		const request = typeof id === "number" ? this.requests.get(id) : undefined;
		if (!request?.isOpen) {
			throw new SandbarError("protocol", "an answer to a request that is not open");
		}
		this.requests.delete(request.id);
		this.open--;
		if (error !== null && error !== undefined) {
			request.failed(remoteError(error));
		} else {
			request.done((result ?? {}) as Result);
		}
		this.flush();
	}

	/** The connection went. What may be repeated waits for the next one; of the rest nothing is known. */
	cut(): void {
		this.open = 0;
		for (const request of [...this.requests.values()]) {
			if (!request.isOpen) {
				continue;
			}
			request.isOpen = false;
			if (!REPEATABLE.has(request.method)) {
				this.requests.delete(request.id);
				request.failed(
					new SandbarError("cut", `the connection went before \`${request.method}\` was answered`, {}),
				);
			}
		}
	}

	/** Nothing will be sent any more. */
	fail(error: SandbarError): void {
		const all = [...this.requests.values()];
		this.requests.clear();
		this.open = 0;
		all.forEach((request) => request.failed(error));
	}

	private dispatch(request: Request): void {
		try {
			this.send([0, request.id, request.method, [request.params]]);
			request.isOpen = true;
			this.open++;
		} catch (thrown) {
			this.requests.delete(request.id);
			request.failed(new SandbarError("usage", `\`${request.method}\`: ${asError(thrown).message}`));
		}
	}
}

/** An error map of the server. */
export function remoteError(value: unknown): SandbarError {
	const { code, message, data } = value as { code?: unknown; message?: unknown; data?: unknown };
	return new SandbarError(String(code) as ErrorCode, String(message), (data ?? {}) as Record<string, unknown>);
}

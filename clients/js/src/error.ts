import type { ErrorCode } from "./table.js";

/**
 * What this client itself may find wrong:
 *
 * - `connect`   the server could not be reached, or does not speak sandbar.v1
 * - `cut`       the connection went before the answer came: whether the request was carried out is not known
 * - `closed`    the connection, the channel or the session's end was there already
 * - `protocol`  the server sent what sandbar.v1 does not allow
 * - `usage`     an argument that this client does not accept
 */
export type OwnCode = "connect" | "cut" | "closed" | "protocol" | "usage";

/** An error of the server, or of this client. `code` is for programs, `message` for people. */
export class SandbarError extends Error {
	override readonly name: string = "SandbarError";

	constructor(
		readonly code: ErrorCode | OwnCode,
		message: string,
		readonly data: Readonly<Record<string, unknown>> = {},
	) {
		super(message);
	}
}

/** Whatever was thrown, as an Error. */
export function asError(thrown: unknown): Error {
	return thrown instanceof Error ? thrown : new Error(String(thrown));
}

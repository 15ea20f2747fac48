// Made by tools/table.mjs from protocol/table.def: change that, then `npm run table`.

/** The kinds of frames, by name. */
export const Kind = {
	OUTPUT: 1,
	STARTED: 2,
	EXITED: 3,
	RESIZED: 4,
	INPUT: 5,
	PARTICIPANT: 6,
	DRIVER: 7,
	NOTE: 9,
	USAGE: 10,
	CHECKPOINT: 11,
	STREAM_CLOSED: 12,
	ENDED: 13,
	DENIED: 14,
	GAP: 32,
	STATE: 33,
	SCREEN: 34,
	LIVE: 35,
	STDIN_ACK: 36,
	ERROR: 37,
	TYPING: 38,
	STDIN: 48,
	EOF: 49,
	RESIZE: 50,
	CREDIT: 51,
} as const;

/** What a server's error may be. */
export type ErrorCode =
	| "malformed"
	| "too_deep"
	| "too_many"
	| "too_large"
	| "bad_utf8"
	| "bad_type"
	| "duplicate_key"
	| "invalid_frame"
	| "unknown_kind"
	| "unknown_channel"
	| "invalid_request"
	| "unknown_method"
	| "invalid_params"
	| "unauthenticated"
	| "forbidden"
	| "not_found"
	| "conflict"
	| "limit"
	| "no_space"
	| "unsupported"
	| "proof"
	| "session_ended"
	| "process_exited"
	| "no_stdin"
	| "stdin_closed"
	| "stdin_gap"
	| "stdin_window"
	| "stdin_unknown"
	| "not_terminal"
	| "not_driver"
	| "cancelled"
	| "unavailable"
	| "internal";

/** Why a process is done. */
export type Reason =
	| "exited"
	| "signal"
	| "timeout"
	| "idle"
	| "cpu"
	| "oom"
	| "output_limit"
	| "policy"
	| "killed"
	| "cancelled"
	| "lost";

/** The streams of a process. */
export const Stream = {
	STDOUT: 1,
	STDERR: 2,
	TTY: 3,
} as const;

/** The roles, by name, with their rank. */
export const Role = {
	viewer: 1,
	editor: 2,
	owner: 3,
} as const;

/** WebSocket close codes. */
export const CloseCode = {
	DONE: 1000,
	GOING_AWAY: 1001,
	TEXT: 1003,
	UNPARSABLE: 1007,
	TOO_BIG: 1009,
	NO_HELLO: 4001,
	NOT_ALLOWED: 4003,
	REMOVED: 4004,
} as const;

/** The wire's limits. */
export const Limit = {
	MESSAGE_BYTES: 4194304,
	HELLO_BYTES: 4096,
	DEPTH: 8,
	NODES: 65536,
	MAP_KEYS: 1024,
	NAME_BYTES: 64,
	STDIN_WINDOW: 1048576,
	ARGUMENT_BYTES: 131071,
	ARGUMENTS: 4096,
	ENVIRONMENT: 1024,
	OPEN_REQUESTS: 64,
	CHANNELS: 64,
	TERMINAL_SIDE: 1000,
	HELLO_SECONDS: 5,
	PING_SECONDS: 15,
	DEAD_SECONDS: 30,
} as const;

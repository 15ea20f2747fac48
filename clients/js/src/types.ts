import type { Reason, Role } from "./table.js";

export type RoleName = keyof typeof Role;
export type StreamName = "stdout" | "stderr" | "tty";

export interface Offsets {
	readonly stdout?: number;
	readonly stderr?: number;
	readonly tty?: number;
}

/** How a process ended (PROTOCOL.md §4.2). */
export interface Ending {
	readonly exit_code: number | null;
	readonly signal: string | null;
	readonly reason: Reason;
	readonly control: string | null;
	readonly message: string | null;
	readonly offsets: Offsets;
	readonly streams_open: readonly StreamName[];
	readonly usage: {
		readonly wall_us: number;
		readonly user_us: number;
		readonly system_us: number;
		readonly memory_peak: number | null;
	};
}

export interface Size {
	readonly cols: number;
	readonly rows: number;
}

/** What STARTED says of a process. */
export interface Started {
	readonly argv: readonly (string | Uint8Array)[];
	readonly cwd: string;
	readonly name: string;
	readonly terminal: Size | null;
	readonly stdin: boolean;
	readonly by: string;
	readonly shell?: boolean;
	readonly context?: Readonly<Record<string, string>>;
}

/** A process as lists tell it. */
export interface ProcessInfo extends Started {
	readonly process: number;
	readonly seq: number;
	readonly started_us: number;
	readonly state: "running" | "exited";
	readonly exited: Ending | null;
	readonly offsets: Offsets;
	readonly stdin_open: boolean;
}

export interface Participant {
	readonly participant: number;
	readonly name: string;
	readonly role: RoleName;
	readonly client: string;
	readonly colour: number;
}

export type InputMode = "open" | "driver";
export type SizePolicy = "driver" | "smallest" | "largest" | "fixed";

/** How a terminal is shared (PROTOCOL.md §3.5). */
export interface Sharing {
	readonly input: InputMode;
	readonly size: SizePolicy;
	readonly driver: number | null;
	readonly away: boolean;
	readonly requests: readonly number[];
}

export interface TerminalInfo extends Sharing, Size {
	readonly process: number;
}

/** What a session uses (PROTOCOL.md §3.4, `session.info`); null = it cannot be known. */
export interface Usage {
	readonly at_us: number;
	readonly cpu_ms: number | null;
	readonly memory_bytes: number | null;
	readonly memory_peak_bytes: number | null;
	readonly processes: number | null;
	readonly workspace_bytes: number | null;
	readonly inodes: number | null;
	readonly near_limits: readonly string[] | null;
}

export interface SessionInfo {
	readonly session: string;
	readonly name: string;
	/** What it was made from; null = the server does not know any more. */
	readonly template: string | null;
	readonly created_us: number;
	readonly processes: number;
	/** Those that have ended have neither of these two. */
	readonly participants?: number;
	readonly context?: Readonly<Record<string, string>>;
	readonly seq: number;
	readonly usage?: Usage | null;
	readonly ended_us?: number;
	readonly reason?: string;
}

export interface Share {
	readonly share: string;
	readonly name: string;
	readonly role: RoleName;
	readonly created_us: number;
	readonly expires_us: number | null;
	readonly uses: number;
	readonly used: number;
	readonly by: string;
	readonly open: boolean;
	readonly revoked: boolean;
}

/** What the server says of itself and of the token, at `hello`. */
export interface Welcome {
	readonly server: string;
	readonly version: number;
	readonly principal: string;
	readonly rights: readonly string[];
	readonly ping_ms: number;
	readonly message_bytes: number;
	readonly stdin_window: number;
	readonly epoch: number;
	readonly session?: string | null;
}

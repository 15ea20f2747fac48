import { Channel, type ChannelOptions } from "./channel.js";
import type { Connection } from "./connection.js";
import type { Ending, InputMode, ProcessInfo, RoleName, SessionInfo, Share, Size, SizePolicy } from "./types.js";

export interface SessionOptions {
	readonly name?: string;
	readonly template?: string;
	readonly env?: Readonly<Record<string, string>>;
	readonly limits?: Readonly<Record<string, number>>;
	readonly ttlMs?: number;
	readonly context?: Readonly<Record<string, string>>;
	readonly require?: readonly string[];
}

export interface ProcessOptions {
	readonly argv: readonly (string | Uint8Array)[];
	readonly env?: Readonly<Record<string, string>>;
	readonly cwd?: string;
	readonly terminal?: Size;
	readonly stdin?: boolean;
	readonly name?: string;
	readonly wallMs?: number;
	readonly idleMs?: number;
	readonly cpuMs?: number;
	readonly outputBytes?: number;
	readonly graceMs?: number;
	readonly onExit?: "keep" | "kill_tree";
	readonly onDisconnect?: "keep" | "kill";
}

export interface ShareOptions {
	readonly role?: RoleName;
	readonly name?: string;
	readonly expiresMs?: number;
	readonly uses?: number;
}

/** A session of a server, by its id: the methods of PROTOCOL.md §3.4 and §3.5 that name one. */
export class Session {
	constructor(
		readonly connection: Connection,
		readonly id: string,
	) {}

	static async create(connection: Connection, options: SessionOptions = {}): Promise<Session> {
		const { ttlMs, ...rest } = options;
		const { session } = await connection.call("session.create", { ...rest, ttl_ms: ttlMs });
		return new Session(connection, session as string);
	}

	static async list(connection: Connection, ended = false): Promise<readonly SessionInfo[]> {
		const { sessions } = await connection.call("session.list", ended ? { ended } : {});
		return sessions as readonly SessionInfo[];
	}

	/** A channel of it, that is attached by its `open()`. */
	channel(options: ChannelOptions = {}): Channel {
		return new Channel(this.connection, this.id, options);
	}

	async info(): Promise<SessionInfo> {
		return (await this.call("session.info")) as unknown as SessionInfo;
	}

	async update(change: Pick<SessionOptions, "name" | "ttlMs" | "context">): Promise<void> {
		await this.call("session.update", { name: change.name, ttl_ms: change.ttlMs, context: change.context });
	}

	/** Resolves when nothing of it is left. */
	async end(): Promise<void> {
		await this.call("session.end");
	}

	/** Start a process; its number. */
	async start(options: ProcessOptions): Promise<number> {
		const { process } = await this.connection.call("process.start", startParams(this.id, options));
		return process as number;
	}

	/** All processes that are known, ended ones too. */
	async processes(): Promise<readonly ProcessInfo[]> {
		const all: ProcessInfo[] = [];
		for (let isMore = true; isMore;) {
			const { processes, more } = await this.call("process.list", { after: all.at(-1)?.process ?? 0 });
			all.push(...(processes as readonly ProcessInfo[]));
			isMore = more === true;
		}
		return all;
	}

	async wait(process: number): Promise<Ending> {
		return (await this.call("process.wait", { process })) as unknown as Ending;
	}

	async signal(process: number, signal: string, scope: "leader" | "tree" = "leader"): Promise<void> {
		await this.call("process.signal", { process, signal, scope });
	}

	/** End a process's whole tree. False: it had exited already. */
	async kill(process: number, graceMs = 0): Promise<boolean> {
		const { already_exited: isOver } = await this.call("process.kill", { process, grace_ms: graceMs });
		return isOver !== true;
	}

	/** Pin a text to this moment. */
	async note(text: string, process?: number): Promise<void> {
		await this.call("session.note", { text, process });
	}

	/* --- sharing ------------------------------------------------------------------------------------------ */

	async setRole(participant: number, role: RoleName): Promise<void> {
		await this.call("session.role", { participant, role });
	}

	async remove(participant: number): Promise<void> {
		await this.call("session.remove", { participant });
	}

	/** A token for this session alone. It is told this once. */
	async share(options: ShareOptions = {}): Promise<{ readonly share: string; readonly token: string }> {
		const { expiresMs, ...rest } = options;
		const { share, token } = await this.call("session.share", { ...rest, expires_ms: expiresMs });
		return { share: share as string, token: token as string };
	}

	async shares(): Promise<readonly Share[]> {
		const { shares } = await this.call("session.shares");
		return shares as readonly Share[];
	}

	async unshare(share: string): Promise<void> {
		await this.call("session.unshare", { share });
	}

	/** How a terminal is shared. */
	async setTerminal(
		process: number,
		change: { readonly input?: InputMode; readonly size?: SizePolicy } & Partial<Size>,
	): Promise<void> {
		await this.call("terminal.set", { process, ...change });
	}

	private call(
		method: string,
		params: Readonly<Record<string, unknown>> = {},
	): Promise<Readonly<Record<string, unknown>>> {
		return this.connection.call(method, { session: this.id, ...params });
	}
}

/** The parameters of `process.start`. */
export function startParams(session: string, options: ProcessOptions): Readonly<Record<string, unknown>> {
	return {
		session,
		argv: options.argv,
		env: options.env,
		cwd: options.cwd,
		terminal: options.terminal,
		stdin: options.stdin,
		name: options.name,
		wall_ms: options.wallMs,
		idle_ms: options.idleMs,
		cpu_ms: options.cpuMs,
		output_bytes: options.outputBytes,
		grace_ms: options.graceMs,
		on_exit: options.onExit,
		on_disconnect: options.onDisconnect,
	};
}

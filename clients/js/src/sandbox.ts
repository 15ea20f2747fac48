import type { Channel } from "./channel.js";
import type { Connection, ConnectionOptions } from "./connection.js";
import { SandbarError } from "./error.js";
import { Session, startParams, type ProcessOptions, type SessionOptions } from "./session.js";
import type { Ending, ProcessInfo, SessionInfo, Size, StreamName } from "./types.js";

/** A command ended with something else than 0. */
export class CommandExitError extends SandbarError {
	override readonly name = "CommandExitError";

	constructor(readonly result: CommandResult) {
		super("conflict", `the command ended: ${result.reason}, exit code ${String(result.exitCode)}`);
	}
}

/** What a command wrote, and how it ended. */
export interface CommandResult {
	readonly exitCode: number;
	readonly stdout: string;
	readonly stderr: string;
	readonly reason: Ending["reason"];
	readonly ending: Ending;
	/** Events that are missing from it, as `[from, to]`. */
	readonly gaps: readonly (readonly [number, number])[];
	/** It wrote more than is kept here: of each stream, the first 64 Mi characters. Listeners heard all. */
	readonly truncated: boolean;
}

export interface OutputListeners {
	readonly onStdout?: (text: string) => void;
	readonly onStderr?: (text: string) => void;
	/** The bytes of a terminal. */
	readonly onData?: (bytes: Uint8Array) => void;
}

export interface CommandOptions extends OutputListeners {
	readonly cwd?: string;
	readonly envs?: Readonly<Record<string, string>>;
	readonly stdin?: boolean;
	/** It is ended after this time; 0 = never. */
	readonly timeoutMs?: number;
}

export interface PtyOptions extends Size {
	readonly onData?: (bytes: Uint8Array) => void;
	readonly cwd?: string;
	readonly envs?: Readonly<Record<string, string>>;
	readonly timeoutMs?: number;
	/** What runs in it; a login shell where not given. */
	readonly argv?: readonly string[];
}

const OUTPUT_MOST = 64 * 1024 * 1024;

/** The text of a pipe, as far as it is kept. */
class Text {
	private readonly decoder = new TextDecoder();
	kept = "";
	isTruncated = false;

	/** What BYTES add to it; without them, what an incomplete character at its end is. */
	add(bytes?: Uint8Array): string {
		const text = bytes ? this.decoder.decode(bytes, { stream: true }) : this.decoder.decode();
		const room = OUTPUT_MOST - this.kept.length;
		this.kept += text.slice(0, room);
		this.isTruncated ||= text.length > room;
		return text;
	}
}

/** A command that runs, or has run. */
export class CommandHandle {
	private readonly texts = { stdout: new Text(), stderr: new Text() };
	private readonly gaps: (readonly [number, number])[] = [];
	private result: CommandResult | null = null;
	private failure: SandbarError | null = null;
	private readonly waiting: (() => void)[] = [];
	private isSilent = false;

	constructor(
		readonly pid: number,
		private readonly session: Session,
		private readonly channel: Channel,
		private readonly listeners: OutputListeners,
	) {}

	get stdout(): string {
		return this.texts.stdout.kept;
	}

	get stderr(): string {
		return this.texts.stderr.kept;
	}

	get exitCode(): number | undefined {
		return this.result?.exitCode;
	}

	/** Resolves when it has ended with 0; rejects with CommandExitError when with something else. */
	async wait(): Promise<CommandResult> {
		if (!this.result && !this.failure) {
			await new Promise<void>((resolve) => this.waiting.push(resolve));
		}
		if (!this.result) {
			throw this.failure ?? new SandbarError("closed", "the command is not followed any more");
		}
		if (this.result.exitCode !== 0) {
			throw new CommandExitError(this.result);
		}
		return this.result;
	}

	/** End it, and all that it started. False: it had ended already. */
	kill(): Promise<boolean> {
		return this.session.kill(this.pid);
	}

	/** Hear no more of it; it runs on. */
	disconnect(): void {
		this.isSilent = true;
		this.lost(new SandbarError("closed", "disconnect() was called"));
	}

	sendStdin(data: string | Uint8Array): Promise<void> {
		return this.channel.write(this.pid, data);
	}

	/* --- what the sandbox tells --------------------------------------------------------------------------- */

	output(stream: StreamName, bytes: Uint8Array): void {
		if (this.isSilent) {
			return;
		}
		if (stream === "tty") {
			this.listeners.onData?.(bytes);
			return;
		}
		this.hear(stream, this.texts[stream].add(bytes));
	}

	gap(from: number, to: number): void {
		this.gaps.push([from, to]);
	}

	exited(ending: Ending): void {
		if (!this.isSilent) {
			this.hear("stdout", this.texts.stdout.add());
			this.hear("stderr", this.texts.stderr.add());
		}
		this.result ??= {
			exitCode: ending.exit_code ?? -1,
			stdout: this.stdout,
			stderr: this.stderr,
			reason: ending.reason,
			ending,
			gaps: this.gaps,
			truncated: this.texts.stdout.isTruncated || this.texts.stderr.isTruncated,
		};
		this.waiting.splice(0).forEach((resolve) => resolve());
	}

	lost(error: SandbarError): void {
		this.failure ??= error;
		this.waiting.splice(0).forEach((resolve) => resolve());
	}

	private hear(stream: "stdout" | "stderr", text: string): void {
		const listener = stream === "stdout" ? this.listeners.onStdout : this.listeners.onStderr;
		if (text !== "") {
			listener?.(text);
		}
	}
}

/** The handles of a session's processes, fed from one channel. */
class Follower {
	private readonly handles = new Map<number, Set<CommandHandle>>();
	/** What came of processes whose start is not answered yet. */
	private readonly early = new Map<number, ((handle: CommandHandle) => void)[]>();
	private starting = 0;

	constructor(
		private readonly session: Session,
		readonly channel: Channel,
	) {
		channel.on("output", ({ process, stream, bytes }) =>
			this.tell(process, (handle) => handle.output(stream, bytes)),
		);
		channel.on("exited", ({ process, ending }) => this.finish(process, ending));
		channel.on("gap", ({ from, to }) => this.all((handle) => handle.gap(from, to)));
		channel.on("state", ({ processes }) => {
			processes.forEach(({ process, exited }) => exited && this.finish(process, exited));
		});
		channel.on("closed", ({ error, reason }) =>
			this.all((handle) => handle.lost(error ?? new SandbarError("closed", `the channel was closed: ${reason}`))),
		);
	}

	follow(process: number, listeners: OutputListeners): CommandHandle {
		const handle = new CommandHandle(process, this.session, this.channel, listeners);
		if (this.channel.isClosed) {
			handle.lost(new SandbarError("closed", "the channel was closed")); // nobody else will say so
			return handle;
		}
		const set = this.handles.get(process) ?? new Set();
		set.add(handle);
		this.handles.set(process, set);
		return handle;
	}

	/** Start a process and follow it from its first byte. */
	start(options: ProcessOptions, listeners: OutputListeners): Promise<CommandHandle> {
		const { connection, id } = this.session;
		this.starting++;
		return new Promise((resolve, reject) => {
			connection.request("process.start", startParams(id, options), {
				done: ({ process }) => {
					const handle = this.follow(process as number, listeners);
					this.early.get(handle.pid)?.forEach((tell) => tell(handle));
					this.started();
					resolve(handle);
				},
				failed: (error) => {
					this.started();
					reject(error);
				},
			});
		});
	}

	private started(): void {
		if (--this.starting === 0) {
			this.early.clear();
		}
	}

	private tell(process: number, tell: (handle: CommandHandle) => void): void {
		const set = this.handles.get(process);
		if (set) {
			set.forEach(tell);
		} else if (this.starting > 0) {
			this.early.set(process, [...(this.early.get(process) ?? []), tell]);
		}
	}

	private all(tell: (handle: CommandHandle) => void): void {
		this.handles.forEach((set) => set.forEach(tell));
	}

	private finish(process: number, ending: Ending): void {
		this.tell(process, (handle) => handle.exited(ending));
		this.handles.delete(process);
	}
}

/** Commands of a sandbox. */
export class Commands {
	constructor(
		private readonly session: Session,
		private readonly start: StartFollowed,
	) {}

	/** Run a command line in a shell, to its end or, with `background`, only started. */
	run(command: string, options: CommandOptions & { readonly background: true }): Promise<CommandHandle>;
	run(command: string, options?: CommandOptions & { readonly background?: false }): Promise<CommandResult>;
	async run(
		command: string,
		options: CommandOptions & { readonly background?: boolean } = {},
	): Promise<CommandHandle | CommandResult> {
		const { cwd, envs, stdin, timeoutMs, background } = options;
		const handle = await this.start(
			{
				argv: ["/bin/bash", "-c", command],
				...given({ cwd, env: envs, stdin, wallMs: timeoutMs }),
			},
			options,
		);
		return background ? handle : handle.wait();
	}

	/** The processes that run. */
	async list(): Promise<readonly ProcessInfo[]> {
		return (await this.session.processes()).filter((process) => process.state === "running");
	}

	sendStdin(pid: number, data: string | Uint8Array): Promise<void> {
		return this.start.channel().then((channel) => channel.write(pid, data));
	}

	/** The end of its input, behind what was sent. */
	async closeStdin(pid: number): Promise<void> {
		await (await this.start.channel()).endInput(pid);
	}

	/** End it, and all that it started. False: it had ended already. */
	kill(pid: number): Promise<boolean> {
		return this.session.kill(pid);
	}

	/** Follow a process that runs already, from now on. */
	connect(pid: number, listeners: OutputListeners = {}): Promise<CommandHandle> {
		return this.start.connect(pid, listeners);
	}
}

/** Terminals of a sandbox. */
export class Pty {
	constructor(
		private readonly session: Session,
		private readonly start: StartFollowed,
	) {}

	create(options: PtyOptions): Promise<CommandHandle> {
		const { cols, rows, cwd, envs, timeoutMs, argv } = options;
		return this.start(
			{
				argv: argv ?? ["/bin/bash", "-l"],
				terminal: { cols, rows },
				...given({ cwd, env: envs, wallMs: timeoutMs }),
			},
			given({ onData: options.onData }),
		);
	}

	async sendInput(pid: number, data: string | Uint8Array): Promise<void> {
		await (await this.start.channel()).write(pid, data);
	}

	async resize(pid: number, size: Size): Promise<void> {
		(await this.start.channel()).resize(pid, size.cols, size.rows);
	}

	kill(pid: number): Promise<boolean> {
		return this.session.kill(pid);
	}

	connect(pid: number, options: Pick<PtyOptions, "onData"> = {}): Promise<CommandHandle> {
		return this.start.connect(pid, options);
	}
}

interface StartFollowed {
	(options: ProcessOptions, listeners: OutputListeners): Promise<CommandHandle>;
	channel(): Promise<Channel>;
	connect(pid: number, listeners: OutputListeners): Promise<CommandHandle>;
}

export type SandboxOptions = ConnectionOptions & SessionOptions;

/** A session with E2B's names: commands, terminals, and a connection of its own. */
export class Sandbox {
	/** How a connection is made here; set by the entry for browsers and the one for Node. */
	static connection: (options: ConnectionOptions) => Connection;

	readonly commands: Commands;
	readonly pty: Pty;
	private follower: Promise<Follower> | null = null;

	private constructor(readonly session: Session) {
		const start = Object.assign(this.start.bind(this), {
			channel: async () => (await this.following()).channel,
			connect: async (pid: number, listeners: OutputListeners) => {
				const handle = (await this.following()).follow(pid, listeners);
				const known = (await session.processes()).find(({ process }) => process === pid);
				if (!known) {
					throw new SandbarError("not_found", `there is no process ${pid}`);
				}
				if (known.exited) {
					handle.exited(known.exited);
				}
				return handle;
			},
		});
		this.commands = new Commands(session, start);
		this.pty = new Pty(session, start);
	}

	get sandboxId(): string {
		return this.session.id;
	}

	/** A new session. */
	static async create(options: SandboxOptions): Promise<Sandbox> {
		const { name, template, env, limits, ttlMs, context, require } = options;
		const wanted = given({ name, template, env, limits, ttlMs, context, require });
		return connected(options, async (connection) => new Sandbox(await Session.create(connection, wanted)));
	}

	/** The session SANDBOX_ID, from now on. */
	static async connect(sandboxId: string, options: ConnectionOptions): Promise<Sandbox> {
		return connected(options, async (connection) => {
			const session = new Session(connection, sandboxId);
			await session.info();
			return new Sandbox(session);
		});
	}

	static async list(options: ConnectionOptions): Promise<readonly SessionInfo[]> {
		const connection = await connect(options);
		try {
			return await Session.list(connection);
		} finally {
			connection.close();
		}
	}

	/** It ends this long from now. */
	async setTimeout(timeoutMs: number): Promise<void> {
		const { created_us: createdUs } = await this.session.info();
		await this.session.update({ ttlMs: Math.ceil(Date.now() - createdUs / 1000 + timeoutMs) });
	}

	async isRunning(): Promise<boolean> {
		return (await this.session.info()).ended_us === undefined;
	}

	/** End the session, and leave. */
	async kill(): Promise<void> {
		await this.session.end();
		this.disconnect();
	}

	/** Leave; the session runs on. */
	disconnect(): void {
		this.session.connection.close();
	}

	/** Output is followed from before a process is started, so that none of it can be missed. */
	private async start(options: ProcessOptions, listeners: OutputListeners): Promise<CommandHandle> {
		return (await this.following()).start(options, listeners);
	}

	/** A channel that could not be opened, or was closed, is not asked again: the next call opens another. */
	private following(): Promise<Follower> {
		if (this.follower) {
			return this.follower;
		}
		const following = this.follow();
		const forget = (): void => {
			this.follower = this.follower === following ? null : this.follower;
		};
		this.follower = following;
		following.then(({ channel }) => (channel.isClosed ? forget() : channel.on("closed", forget)), forget);
		return following;
	}

	private async follow(): Promise<Follower> {
		const channel = this.session.channel({ after: null, mode: "lossless" });
		const follower = new Follower(this.session, channel);
		await channel.open();
		return follower;
	}
}

async function connect(options: ConnectionOptions): Promise<Connection> {
	const connection = Sandbox.connection(options);
	await connection.open();
	return connection;
}

/** What MAKE makes of a new connection, which is closed where it makes nothing. */
async function connected<T>(options: ConnectionOptions, make: (connection: Connection) => Promise<T>): Promise<T> {
	const connection = await connect(options);
	try {
		return await make(connection);
	} catch (error) {
		connection.close();
		throw error;
	}
}

/** OPTIONS without what was not given. */
function given<T extends object>(options: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
	return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as never;
}

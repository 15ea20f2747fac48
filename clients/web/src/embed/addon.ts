import type { ITerminalAddon, Terminal } from "@xterm/xterm";
import { Connection, SandbarError, Session, SessionView, type Channel, type Ending } from "sandbar";
import { swallowQueries } from "../terminal/queries.js";

/** Of a long session the newest is shown. */
const REPLAY_BYTES = 256 * 1024;

export interface SandbarAddonOptions {
	/** Where the server is: `https://host`. */
	readonly url: string;
	readonly session: string;
	readonly token: string;
	/** The terminal to show; where none is named, the newest that runs. */
	readonly process?: number;
	/** Only watch. */
	readonly isReadOnly?: boolean;
	/** 16 bytes, kept over reloads of the page: by them the server knows who came by a link. */
	readonly clientId?: Uint8Array;
	readonly onReady?: (process: number) => void;
	readonly onExit?: (ending: Ending) => void;
	readonly onGap?: (from: number, to: number) => void;
	/** The connection is there, was cut, or is given up; then `why` says why. */
	readonly onState?: (state: string, why: SandbarError | null) => void;
}

/** Shows a terminal of a Sandbar session in any xterm.js: `terminal.loadAddon(new SandbarAddon({…}))`. */
export class SandbarAddon implements ITerminalAddon {
	private readonly connection: Connection;
	private readonly session: Session;
	private readonly channel: Channel;
	private readonly view: SessionView;
	private readonly disposables: { dispose(): void }[] = [];
	private terminal: Terminal | null = null;
	/** What is shown; 0 = nothing yet. */
	private process: number;
	private isReady = false;

	constructor(private readonly options: SandbarAddonOptions) {
		const { url, token, session, clientId, isReadOnly } = options;
		const id = clientId ? { clientId } : {};
		this.connection = new Connection({ url, token, client: "sandbar-embed/0.1", persist: true, ...id });
		this.session = new Session(this.connection, session);
		this.channel = this.session.channel({
			after: 0,
			paced: true,
			replay: REPLAY_BYTES,
			...(isReadOnly ? { role: "viewer" } : {}),
		});
		this.view = new SessionView(this.channel);
		this.process = options.process ?? 0;
		this.listen();
	}

	activate(terminal: Terminal): void {
		this.terminal = terminal;
		this.disposables.push(
			swallowQueries(terminal),
			terminal.onData((text) => this.write(text)),
			terminal.onBinary((text) => this.write(Uint8Array.from(text, (character) => character.charCodeAt(0)))),
		);
		this.connection
			.open()
			.then(() => this.begin())
			.catch((error: unknown) => this.options.onState?.("given_up", error as SandbarError));
	}

	dispose(): void {
		this.disposables.splice(0).forEach((one) => one.dispose());
		this.connection.close();
		this.terminal = null;
	}

	/** Send input to the terminal that is shown. */
	write(data: string | Uint8Array): void {
		if (this.process && !this.options.isReadOnly && this.channel.role !== "viewer") {
			void this.channel.write(this.process, data);
		}
	}

	/** Run COMMAND in a terminal of its own, and show that. Resolves with how it ended. */
	async run(command: string): Promise<Ending> {
		const { cols, rows } = this.terminal ?? { cols: 80, rows: 24 };
		const process = await this.session.start({ argv: ["/bin/bash", "-c", command], terminal: { cols, rows } });
		this.show(process);
		return this.session.wait(process);
	}

	/** How many columns and rows there is room for. */
	offerSize(cols: number, rows: number): void {
		if (this.process && !this.options.isReadOnly) {
			this.channel.resize(this.process, cols, rows);
		}
	}

	/* --- what the channel tells --------------------------------------------------------------------------- */

	/** Choose what to show before anything of it comes. */
	private async begin(): Promise<void> {
		if (!this.process) {
			const terminals = (await this.session.processes()).filter(({ terminal }) => terminal);
			const running = terminals.filter(({ state }) => state === "running");
			this.process = (running.at(-1) ?? terminals.at(-1))?.process ?? 0;
		}
		await this.channel.open();
	}

	private listen(): void {
		const { channel, connection, options } = this;
		connection.on("state", ({ state, why }) => options.onState?.(state, why));
		channel.on("started", ({ process, started }) => {
			if (started.terminal && !this.process) {
				this.show(process);
			} else if (started.terminal && process === this.process) {
				this.resize(started.terminal.cols, started.terminal.rows);
			}
		});
		channel.on("output", ({ process, bytes, drawn }) => {
			if (process === this.process && this.terminal) {
				this.terminal.write(bytes, drawn);
			} else {
				drawn();
			}
		});
		channel.on("screen", ({ process, cols, rows, bytes }) => {
			if (process === this.process) {
				this.terminal?.write("\x1bc");
				this.resize(cols, rows);
				this.terminal?.write(bytes);
			}
		});
		channel.on("resized", ({ process, cols, rows }) => process === this.process && this.resize(cols, rows));
		channel.on("exited", ({ process, ending }) => process === this.process && options.onExit?.(ending));
		channel.on("gap", ({ from, to }) => options.onGap?.(from, to));
		channel.on("live", () => this.ready());
		channel.on("closed", ({ error }) => {
			this.ready();
			if (error) {
				options.onState?.("given_up", error);
			}
		});
	}

	private ready(): void {
		if (!this.isReady) {
			this.isReady = true;
			this.options.onReady?.(this.process);
		}
	}

	/** Show PROCESS from here on. */
	private show(process: number): void {
		if (this.process !== process) {
			this.process = process;
			this.terminal?.write("\x1bc");
			const known = this.view.terminals.get(process);
			if (known) {
				this.resize(known.cols, known.rows);
			}
		}
	}

	private resize(cols: number, rows: number): void {
		this.terminal?.write("", () => this.terminal?.resize(cols, rows));
	}
}

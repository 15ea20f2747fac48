import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { connect, createServer, type Server as NetServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** The root of the tree; this file is built into clients/js/built/test. */
export const TOP = resolve(fileURLToPath(new URL("../../../..", import.meta.url)));
/** Where the programs under test are. */
export const BIN = process.env.SANDBAR_BIN ?? join(TOP, "build/asan/bin");

/** The real server with a state directory and a port of its own. */
export class Server {
	private text = "";
	private constructor(
		private readonly process: ChildProcess,
		private readonly folder: string,
	) {}

	static async start(...flags: readonly string[]): Promise<Server> {
		const folder = mkdtempSync(join(tmpdir(), "sandbar-js-"));
		const state = join(folder, "state");
		mkdirSync(state, { mode: 0o700 });
		const argv = ["--listen", "127.0.0.1:0", "--state", state, ...flags];
		const child = spawn(join(BIN, "sandbard"), argv, { stdio: ["ignore", "pipe", "pipe"] });
		const server = new Server(child, folder);
		await server.listening();
		return server;
	}

	get address(): { readonly host: string; readonly port: number } {
		const told = /listening on https?:\/\/(\S+):(\d+)/.exec(this.text);
		return { host: told?.[1] ?? "", port: Number(told?.[2]) };
	}

	get url(): string {
		return `ws://${this.address.host}:${this.address.port}`;
	}

	/** The state directory, by which programs of this machine find the server and the owner's token. */
	get state(): string {
		return join(this.folder, "state");
	}

	get token(): string {
		return readFileSync(join(this.state, "owner.token"), "utf8").trim();
	}

	/** The gateway that serves now. */
	get gateway(): number {
		const { pid } = this.process;
		const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
		const found = children.find((child) =>
			readFileSync(`/proc/${child}/comm`, "utf8").startsWith("sandbard-gatewa"),
		);
		if (found === undefined) {
			throw new Error("the server has no gateway");
		}
		return Number(found);
	}

	/** Kill the gateway as a fault of its own would. The keeper starts another. */
	killGateway(): void {
		process.kill(this.gateway, "SIGKILL");
	}

	/** Have the keeper put a new gateway in the old one's place. */
	replaceGateway(): void {
		this.process.kill("SIGUSR2");
	}

	async stop(): Promise<void> {
		const left = new Promise((resolve) => this.process.once("exit", resolve));
		if (this.process.exitCode === null) {
			this.process.kill("SIGTERM");
			await left;
		}
		rmSync(this.folder, { recursive: true, force: true });
		if (/runtime error:|ERROR: (Address|Leak)Sanitizer/.test(this.text)) {
			throw new Error(this.text); // gcc's UBSan writes here, whatever log_path says
		}
	}

	private listening(): Promise<void> {
		return new Promise((resolve, reject) => {
			const hear = (piece: Buffer): void => {
				this.text += piece.toString();
				if (this.text.includes("listening on")) {
					resolve();
				}
			};
			this.process.stdout?.on("data", hear);
			this.process.stderr?.on("data", hear);
			this.process.once("exit", () => reject(new Error(`the server did not start:\n${this.text}`)));
			this.process.once("error", reject);
		});
	}
}

/** A wire between a client and a server that can be cut. */
export class Wire {
	private readonly sockets = new Set<Socket>();
	private readonly listener: NetServer = createServer((near) => this.join(near));
	private port = 0;
	cuts = 0;
	/** New WebSockets come to nowhere: nobody answers them. */
	isSilent = false;
	private constructor(private readonly server: Server) {}

	static async to(server: Server): Promise<Wire> {
		const wire = new Wire(server);
		await wire.mend();
		return wire;
	}

	get url(): string {
		return `ws://127.0.0.1:${this.port}`;
	}

	cut(): void {
		this.cuts++;
		this.sockets.forEach((socket) => socket.resetAndDestroy());
	}

	/** Cut it, and let nothing through until it is mended. */
	close(): void {
		this.cut();
		this.listener.close();
	}

	async mend(): Promise<void> {
		await new Promise<void>((resolve) => this.listener.listen(this.port, "127.0.0.1", resolve));
		const address = this.listener.address();
		this.port = typeof address === "object" ? (address?.port ?? 0) : 0;
	}

	private join(near: Socket): void {
		this.keep(near);
		near.once("data", (first: Buffer) => {
			if (this.isSilent && /^upgrade: websocket/im.test(first.toString("latin1"))) {
				return;
			}
			const { host, port } = this.server.address;
			const far = connect(port, host);
			this.keep(far);
			far.write(first);
			near.pipe(far);
			far.pipe(near);
			near.on("close", () => far.destroy());
			far.on("close", () => near.destroy());
		});
	}

	private keep(socket: Socket): void {
		this.sockets.add(socket);
		socket.on("error", () => socket.destroy());
		socket.on("close", () => this.sockets.delete(socket));
	}
}

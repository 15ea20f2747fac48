import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { connect, createServer, type Server as NetServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** The root of the tree; this file is built into clients/js/built/test. */
export const TOP = resolve(fileURLToPath(new URL("../../../..", import.meta.url)));
const BIN = process.env.SANDBAR_BIN ?? join(TOP, "build/asan/bin");

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

	get token(): string {
		return readFileSync(join(this.folder, "state/owner.token"), "utf8").trim();
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
	cuts = 0;
	private constructor(private readonly listener: NetServer) {}

	static async to(server: Server): Promise<Wire> {
		const { host, port } = server.address;
		const listener = createServer((near) => {
			const far = connect(port, host);
			for (const [from, to] of [
				[near, far],
				[far, near],
			] as const) {
				wire.sockets.add(from);
				from.pipe(to);
				from.on("error", () => to.destroy());
				from.on("close", () => {
					wire.sockets.delete(from);
					to.destroy();
				});
			}
		});
		const wire = new Wire(listener);
		await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
		return wire;
	}

	get url(): string {
		const address = this.listener.address();
		return `ws://127.0.0.1:${typeof address === "object" ? (address?.port ?? 0) : 0}`;
	}

	cut(): void {
		this.cuts++;
		this.sockets.forEach((socket) => socket.resetAndDestroy());
	}

	close(): void {
		this.cut();
		this.listener.close();
	}
}

import { readFileSync } from "node:fs";
import { createServer, type Server as HttpServer } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { TOP } from "sandbar/test/server";

const { resolve } = createRequire(join(TOP, "clients/web/package.json"));
const FILES: Readonly<Record<string, string>> = {
	"/xterm.js": resolve("@xterm/xterm/lib/xterm.js"),
	"/xterm.css": resolve("@xterm/xterm/css/xterm.css"),
	"/unicode11.js": resolve("@xterm/addon-unicode11/lib/addon-unicode11.js"),
};

/** A site of somebody else: one page, with a policy of its own where it has one, and an xterm.js. */
export class Site {
	html = "";
	policy: string | null = null;
	private constructor(
		private readonly server: HttpServer,
		readonly origin: string,
	) {}

	static async open(): Promise<Site> {
		const server = createServer((request, response) => {
			const file = FILES[request.url ?? ""];
			if (file) {
				response.writeHead(200, { "content-type": file.endsWith(".css") ? "text/css" : "text/javascript" });
				response.end(readFileSync(file));
				return;
			}
			const policy = site.policy === null ? {} : { "content-security-policy": site.policy };
			response.writeHead(200, { "content-type": "text/html; charset=utf-8", ...policy });
			response.end(
				`<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>site</title>${site.html}`,
			);
		});
		await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
		const address = server.address();
		const site = new Site(server, `http://127.0.0.1:${typeof address === "object" ? (address?.port ?? 0) : 0}`);
		return site;
	}

	close(): void {
		this.server.close();
		this.server.closeAllConnections();
	}
}

/** `<sandbar-terminal>`, as pages see it. */
export interface Embedded extends HTMLElement {
	readonly text: string;
	run(command: string): Promise<{ readonly exit_code: number }>;
	write(text: string): void;
}

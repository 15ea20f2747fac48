/** The same as key.ts, bare: a page with nothing but an xterm.js, whose keys a libwebsockets server sends back. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { Site } from "../test/site.js";
import { LAUNCH } from "../test/visitor.js";
import { Keys, measure, percentiles, type Closing } from "./meter.js";

const KEYS = 300;

/** The port of bench_lws_echo, which serves as long as we are there. */
async function echo(closing: Closing): Promise<number> {
	const program = join(process.env.SANDBAR_BENCH ?? "build/release/tests/bench", "bench_lws_echo");
	const server = spawn(program, ["--serve", "1"], { stdio: ["pipe", "pipe", "inherit"] });
	closing(async () => {
		server.stdin.end();
		await once(server, "exit");
	});
	const [told] = (await once(server.stdout, "data")) as [Buffer];
	return Number(told.toString());
}

await measure("browser_bare_key", async (closing) => {
	const port = await echo(closing);
	const site = await Site.open();
	closing(() => {
		site.close();
	});
	site.html = `<link rel="stylesheet" href="/xterm.css"><body><div id="place"></div><script src="/xterm.js"></script><script>
		const terminal = new Terminal({ cols: 80, rows: 24, fontSize: 14, fontFamily: "monospace", scrollback: 10000 });
		terminal.open(document.querySelector("#place"));
		const socket = new WebSocket("ws://127.0.0.1:${port}", "echo");
		socket.binaryType = "arraybuffer";
		socket.onopen = () => terminal.write("ready\\r\\n");
		socket.onmessage = ({ data }) => terminal.write(new Uint8Array(data));
		terminal.onData((text) => socket.send(new TextEncoder().encode(text)));
	</script>`;
	const browser = await chromium.launch(LAUNCH);
	closing(() => browser.close());
	const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
	const keys = await Keys.on(page);
	await page.goto(site.origin);
	await page.locator(".xterm-rows", { hasText: "ready" }).waitFor();
	await keys.watch(".xterm-rows");
	await keys.times(20); // warms up
	return percentiles(await keys.times(KEYS));
});

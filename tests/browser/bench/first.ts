/** A browser that was never here opens a link: what it fetches, and how long it takes, until it has a terminal that takes keys. */
import type { Session } from "sandbar";
import type { House } from "../test/visitor.js";
import { Keys, measure, openHouse, percentiles } from "./meter.js";

const RUNS = 7;
const THROTTLE = 4;

interface Opened {
	/** Of responses as they came (compressed, with their heads), and of WebSocket messages. */
	readonly bytes: number;
	readonly promptMs: number;
	readonly keyMs: number;
}

/** RATE: of the processor, that the page is held back to. */
async function open(house: House, session: Session, rate: number): Promise<Opened> {
	const { token } = await session.share({ role: "editor" });
	const visitor = await house.visitor();
	const keys = await Keys.on(visitor.page);
	const devtools = await visitor.context.newCDPSession(visitor.page);
	let bytes = 0;
	devtools.on("Network.loadingFinished", ({ encodedDataLength }) => (bytes += encodedDataLength));
	devtools.on("Network.webSocketFrameReceived", ({ response }) => {
		bytes += Buffer.byteLength(response.payloadData, response.opcode === 2 ? "base64" : "utf8");
	});
	await devtools.send("Network.enable");
	await devtools.send("Emulation.setCPUThrottlingRate", { rate });
	const begin = performance.now();
	await visitor.page.goto(`${house.url}/#${token}`, { waitUntil: "commit" });
	await visitor.sees("$");
	const [promptMs, fetched] = [performance.now() - begin, bytes];
	await keys.watch(".xterm-rows");
	await keys.press();
	const keyMs = performance.now() - begin;
	await visitor.context.close();
	return { bytes: fetched, promptMs, keyMs };
}

await measure("browser_first", async (closing) => {
	const house = await openHouse(closing);
	const { session } = await house.session();
	const { bytes } = await open(house, session, 1);
	const runs: Opened[] = [];
	while (runs.length < RUNS) {
		runs.push(await open(house, session, THROTTLE));
	}
	const prompt = percentiles(runs.map(({ promptMs }) => promptMs)).p50_us ?? NaN;
	return { bytes, prompt_us: prompt, ...percentiles(runs.map(({ keyMs }) => keyMs)) };
});

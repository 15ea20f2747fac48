/** What a tab holds after it drew a GiB of output, or as much as it could draw in seven minutes. */
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { CDPSession } from "playwright-core";
import { measure, openHouse, watched } from "./meter.js";

const MIB = 1024 * 1024;
const MOST = 1024 * MIB;
const SECONDS = 420;

/** Of its JavaScript, after the garbage was collected. */
async function heap(page: CDPSession): Promise<number> {
	await page.send("HeapProfiler.collectGarbage");
	const { metrics } = await page.send("Performance.getMetrics");
	return metrics.find(({ name }) => name === "JSHeapUsedSize")?.value ?? NaN;
}

/** The resident memory of the largest renderer, which is the page's: spare ones have drawn nothing. */
async function resident(browser: CDPSession): Promise<number> {
	const { processInfo } = await browser.send("SystemInfo.getProcessInfo");
	const sizes = processInfo.map(({ id, type }) => {
		const told =
			type === "renderer" ? /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${id}/status`, "utf8")) : null;
		return Number(told?.[1] ?? 0) * 1024;
	});
	return Math.max(...sizes);
}

await measure(
	"browser_memory",
	async (closing) => {
		const house = await openHouse(closing);
		const line = "a line of what a build writes, as long as most of them are, of some words";
		const [visitor, keys] = await watched(house, ["sh", "-c", `echo ready; read x; exec yes '${line}'`], "ready");
		const page = await visitor.context.newCDPSession(visitor.page);
		const browser = await visitor.context.browser()?.newBrowserCDPSession();
		if (!browser) {
			throw new Error("no browser");
		}
		await page.send("Performance.enable");
		const fresh = await heap(page);
		await visitor.types("\n");
		const begin = performance.now();
		let bytes = 0;
		while (bytes < MOST && performance.now() - begin < SECONDS * 1000) {
			await pause(500);
			bytes = await keys.bytes();
		}
		const seconds = (performance.now() - begin) / 1000;
		const used = await heap(page);
		return {
			mib: Math.round(bytes / MIB),
			seconds: Math.round(seconds),
			heap_mib: used / MIB,
			fresh_heap_mib: fresh / MIB,
			rss_mib: (await resident(browser)) / MIB,
		};
	},
	SECONDS + 60,
);

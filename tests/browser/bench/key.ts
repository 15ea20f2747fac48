/** A key in Chromium to its glyph on a session's page: the terminal itself echoes it. */
import { measure, openHouse, percentiles, watched } from "./meter.js";

const KEYS = 300;

await measure("browser_key", async (closing) => {
	const house = await openHouse(closing);
	const [, keys] = await watched(house, ["sh", "-c", "echo ready; exec sleep 600"], "ready");
	await keys.watch(".pane:not([hidden]) .xterm-rows");
	await keys.times(20); // warms up
	return percentiles(await keys.times(KEYS));
});

import assert from "node:assert/strict";
import { Wire } from "sandbar/test/server";
import type { Session } from "sandbar";
import { House, test, type Visitor } from "./visitor.js";

const house = await House.ofFile();

/** Room for more lines than are counted, so that all of them are on the screen. */
const TALL = { viewport: { width: 1000, height: 1800 } };
const LINES = 60;

/** Counts to LINES in a few seconds, then says what was typed. */
async function count(session: Session): Promise<number> {
	const counting = `for i in $(seq ${LINES}); do echo L\${i}E; sleep 0.1; done; echo done`;
	return session.start({
		argv: ["bash", "-c", `stty -echo; ${counting}; read -r line; echo "got $line"; sleep 600`],
		terminal: { cols: 80, rows: 70 },
		name: "counter",
	});
}

async function hasAllLines(visitor: Visitor): Promise<void> {
	await visitor.sees("done");
	const lines = (await visitor.screen()).split("\n").filter((line) => /^L\d+E/.test(line));
	assert.deepEqual(
		lines.map((line) => line.trim()),
		Array.from({ length: LINES }, (_, i) => `L${i + 1}E`),
	);
}

test("the gateway is killed under an open page: it comes back, and nothing is missing or there twice", async () => {
	const { session } = await house.session();
	await count(session);
	const owner = await house.owner(session, TALL);
	await owner.page.getByRole("tab", { name: "counter" }).click();
	await owner.sees("L5E");
	const killed = house.server.gateway;
	house.server.killGateway();
	await owner.is("cut");
	await owner.connected();
	assert.notEqual(house.server.gateway, killed);
	await hasAllLines(owner);
	const other = await house.owner(session, TALL);
	await other.page.getByRole("tab", { name: "counter" }).click();
	await other.sees("done");
	assert.deepEqual(await owner.cells(), await other.cells(), "one that came after the fault sees the same");
	await session.end();
});

test("the network is lost: the page says so, and goes on where it was once it is back", async () => {
	const { session } = await house.session();
	const wire = await Wire.to(house.server);
	await count(session);
	const owner = await house.owner(session, TALL, wire.url);
	await owner.page.getByRole("tab", { name: "counter" }).click();
	await owner.sees("L5E");
	owner.expectsFailures();
	wire.close();
	await owner.is("cut");
	await owner.page
		.getByRole("alert")
		.filter({ hasText: "The connection was lost; nothing that happens is." })
		.waitFor();
	await owner.accessibility();
	await owner.types("typed meanwhile\n");
	await new Promise((resolve) => setTimeout(resolve, 2000));
	await wire.mend();
	await owner.page.getByRole("button", { name: "Try now" }).click();
	await owner.connected();
	await owner.page.getByRole("alert").waitFor({ state: "hidden" });
	await owner.sees("got typed meanwhile");
	await hasAllLines(owner);
	await session.end();
	wire.close();
});

test("until the server has answered, a page says what it is and that it waits; then that there is no answer", async () => {
	const wire = await Wire.to(house.server);
	const { session } = await house.session();
	const visitor = await house.owner(session, {}, wire.url);
	visitor.expectsFailures();
	wire.isSilent = true;
	for (const [path, name] of [
		["/", "Sessions"],
		[`/session#session=${session.id}`, "Session"],
		[`/replay#session=${session.id}`, "Replay"],
	] as const) {
		await visitor.page.goto("about:blank");
		await visitor.page.goto(wire.url.replace("ws:", "http:") + path);
		await visitor.is("connecting");
		await visitor.page.getByRole("heading", { name, exact: true }).waitFor();
		await visitor.page.getByText("Connecting…", { exact: true }).waitFor();
		await visitor.accessibility();
	}
	await visitor.page.getByText("The server cannot be reached.").waitFor();
	wire.isSilent = false;
	await visitor.page.getByRole("button", { name: "Try now" }).click();
	await visitor.connected();
	await session.end();
	wire.close();
});

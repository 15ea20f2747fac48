import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { House, test } from "./visitor.js";

const house = await House.ofFile();

test("a session is replayed at any moment, and downloaded as asciicast", async () => {
	const { session, process } = await house.session();
	const channel = session.channel({ after: null });
	await channel.open();
	await new Promise((resolve) => setTimeout(resolve, 500));
	await channel.write(process, "echo first; ls --color=always -x /usr; seq 1 3\n");
	await new Promise((resolve) => setTimeout(resolve, 1200));
	await session.note("between the two", process);
	await new Promise((resolve) => setTimeout(resolve, 1200));
	await channel.write(process, "echo second; ls --color=always -xl /usr | head -8; exit 3\n");
	await session.wait(process);
	await session.end();

	const owner = await house.visitor();
	await owner.page.goto(`${house.url}/#${house.server.token}`);
	await owner.connected();
	await owner.page.locator(`#session-${session.id}`).click();
	const text = owner.page.locator(".player .xterm-rows");
	await owner.page.getByRole("slider", { name: "Moment" }).waitFor();
	await owner.page.getByRole("button", { name: /between the two/ }).click();
	await text.filter({ hasText: "first" }).waitFor();
	assert.ok(!(await text.innerText()).includes("second"), "what came later is not there yet");
	await owner.accessibility();
	await owner.page.getByLabel("Speed").selectOption("16");
	await owner.page.getByRole("button", { name: "Play", exact: true }).click();
	await text.filter({ hasText: "second" }).waitFor();
	await owner.picture("replay");
	await owner.page.getByRole("slider").fill("0");
	await text.filter({ hasNotText: "first" }).waitFor();

	const [download] = await Promise.all([
		owner.page.waitForEvent("download"),
		owner.page.getByRole("button", { name: "Download" }).click(),
	]);
	const [head, ...lines] = readFileSync(await download.path(), "utf8")
		.trim()
		.split("\n");
	const header = JSON.parse(head ?? "") as { version: number; term: { cols: number } };
	const events = lines.map((line) => JSON.parse(line) as [number, string, string]);
	assert.deepEqual([header.version, header.term.cols], [3, 80]);
	const output = events.flatMap(([, code, data]) => (code === "o" ? [data] : [])).join("");
	assert.ok(output.includes("first") && output.includes("second"));
	assert.ok(events.some(([, code, data]) => code === "m" && data.includes("between the two")));
	assert.deepEqual(events.at(-1)?.slice(1), ["x", "3"]);
	const seconds = events.reduce((sum, [interval]) => sum + interval, 0);
	assert.ok(seconds > 2 && seconds < 60, `it lasted ${seconds} s`);
});

test("a replay of many megabytes jumps back and forth to the same screens", async () => {
	const { session } = await house.session();
	const line = 'for i in $(seq 60000); do echo "line $i of a long run that fills the screen again and again"; done';
	const long = await session.start({ argv: ["bash", "-c", line], terminal: { cols: 80, rows: 24 }, name: "long" });
	await session.wait(long);
	const owner = await house.owner(session);
	await owner.page.goto(`${house.url}/replay#session=${session.id}`);
	await owner.page.getByLabel("Process", { exact: true }).selectOption({ label: "long" });
	const slider = owner.page.getByRole("slider");
	const text = owner.page.locator(".player .xterm-rows");
	const [end, start] = [Number(await slider.getAttribute("max")), Number(await slider.inputValue())];
	const at = async (moment: number): Promise<string> => {
		await slider.fill(String(Math.round(moment / 1000) * 1000));
		await owner.page.waitForTimeout(1500);
		return text.innerText();
	};
	await at(end);
	await text.filter({ hasText: "line 60000" }).waitFor();
	const middle = start + (end - start) * 0.6;
	const before = await at(middle);
	assert.match(before, /line \d+/);
	await at(end);
	assert.equal(await at(middle), before);
	await session.end();
});

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { Session } from "sandbar";
import { House, test, type Visitor } from "./visitor.js";

const house = await House.ofFile();

const FAMILY = "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}";

/** The owner's page with a terminal whose program reads as many bytes as EXPECTED has, and then tells them by TOOL. */
async function reader(session: Session, expected: string, tool: string): Promise<Visitor> {
	const read = `stty raw -echo; echo ready; head -c ${Buffer.byteLength(expected)} | ${tool}; sleep 600`;
	await session.start({ argv: ["bash", "-c", read], terminal: { cols: 150, rows: 24 }, name: "reader" });
	const owner = await house.owner(session);
	await owner.page.getByRole("tab", { name: "reader" }).click();
	await owner.sees("ready");
	await owner.page.locator(".pane:not([hidden]) .xterm-screen").first().click();
	return owner;
}

/** As an input method does: STEPS are shown while they are composed, and the last of them is what comes of it. */
async function compose(visitor: Visitor, ...steps: readonly string[]): Promise<void> {
	const devtools = await visitor.context.newCDPSession(visitor.page);
	for (const text of steps) {
		await devtools.send("Input.imeSetComposition", {
			text,
			selectionStart: text.length,
			selectionEnd: text.length,
		});
	}
	await devtools.send("Input.insertText", { text: steps.at(-1) ?? "" });
	await devtools.detach();
}

test("what an input method composes reaches the program once, whole, and before the key that follows", async () => {
	const { session } = await house.session();
	const expected = `日本語7中文字8${FAMILY}.`;
	const owner = await reader(session, expected, "od -An -v -tx1 -w64 | tr -d ' '");
	await compose(owner, "に", "にほんご", "日本語");
	await owner.page.keyboard.press("7");
	await compose(owner, "zhong", "中文字8");
	await compose(owner, FAMILY);
	await owner.page.keyboard.press(".");
	await owner.sees(/[0-9a-f]{40}/);
	const seen = (await owner.screen()).replaceAll(/\s|ready/g, "");
	assert.equal(seen, Buffer.from(expected).toString("hex"));
	await session.end();
});

test("a paste that is cut into many frames loses and doubles no character", async () => {
	const { session } = await house.session();
	const expected = "日本x".repeat(30_000);
	const owner = await reader(session, expected, "md5sum");
	await owner.context.grantPermissions(["clipboard-read", "clipboard-write"]);
	await owner.page.evaluate((text) => navigator.clipboard.writeText(text), expected);
	await owner.page.keyboard.press("Control+Shift+V");
	await owner.sees(createHash("md5").update(expected).digest("hex"));
	await session.end();
});

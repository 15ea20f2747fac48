import assert from "node:assert/strict";
import { House, test } from "./visitor.js";

const house = await House.ofFile();

const MARKUP = "<img src=x onerror=\"document.title='owned'\"><b>bold</b>";

/** Escape sequences as printf(1) takes them. */
function printf(text: string): string {
	return `printf '${text.replaceAll("'", "'\\''")}'\n`;
}

test("names, notes, titles and file names are texts, whatever is in them", async () => {
	const { session } = await house.session();
	await session.update({ name: MARKUP.slice(0, 60) });
	await session.start({ argv: ["sh", "-c", 'echo "$0"; exec sleep 60', MARKUP], name: MARKUP.slice(0, 60) });
	await session.note(MARKUP);
	await session.note("\u202eevil\u2066 text\u0007");
	const owner = await house.owner(session);
	await owner.types(printf(`\\033]2;${MARKUP}\\007\\033]0;${MARKUP}\\007`) + "echo done\n");
	await owner.sees("done");
	await owner.page.locator(".note", { hasText: "<b>bold</b>" }).waitFor();
	assert.equal(await owner.page.locator("b, img:not(.brand img)").count(), 0);
	assert.notEqual(await owner.page.title(), "owned");
	const notes = await owner.page.locator(".notes").innerText();
	assert.ok(
		!/[\u202a-\u202e\u2066-\u2069]/.test(notes) && !notes.includes("\u0007"),
		"nothing in a note turns the writing round",
	);
	await owner.page.goto(house.url);
	await owner.page.locator(".session").first().waitFor();
	assert.equal(await owner.page.locator("b, img:not(.brand img)").count(), 0);
	await session.end();
});

test("no query is answered by a page, live or in a replay", async () => {
	const { session, process } = await house.session();
	const channel = session.channel({ after: 0 });
	const typed: number[] = [];
	channel.on("input", ({ participant, nbytes }) => {
		if (participant !== channel.participant) {
			typed.push(nbytes);
		}
	});
	await channel.open();
	const owner = await house.owner(session);
	await owner.sees("$");
	const queries = [
		"\\033[6n", "\\033[5n", "\\033[c", "\\033[>c", "\\033[=c", "\\033[?6n", "\\033[>q", "\\033[?u", "\\033[?2004$p", "\\033[20$p",
		"\\033[18t", "\\033[14t", "\\033[21t", "\\033]10;?\\007", "\\033]11;?\\033\\\\", "\\033]4;1;?\\007", "\\033P$qm\\033\\\\",
		"\\033P+q544e\\033\\\\", "\\033]52;c;?\\007", "\\005",
	]; // prettier-ignore
	await channel.write(process, printf(queries.join("")) + "echo asked\n");
	await owner.sees("asked");
	await owner.page.reload();
	await owner.connected();
	await owner.sees("asked");
	await new Promise((resolve) => setTimeout(resolve, 1000));
	assert.deepEqual(typed, [], "nobody but the program beside typed");
	await session.end();
});

test("a link is shown before it opens, and only http(s) is one", async () => {
	const { session, process } = await house.session();
	const owner = await house.owner(session);
	const channel = session.channel({ after: null });
	await channel.open();
	const links =
		"\\033]8;;https://example.com/path\\033\\\\good\\033]8;;\\033\\\\ \\033]8;;javascript:alert(1)\\033\\\\bad\\033]8;;\\033\\\\\\n";
	await channel.write(process, `clear; ${printf(links)}`);
	await owner.sees("good bad");
	const rows = owner.page.locator(".pane .xterm-rows > div");
	const box = await rows
		.filter({ hasText: /^good bad/ })
		.first()
		.boundingBox();
	assert.ok(box);
	const cell = box.width / 80;
	const dialog = owner.page.getByRole("dialog", { name: "Open this link?" });
	for (let tries = 0; (await dialog.count()) === 0; tries++) {
		assert.ok(tries < 5, "the link does not open");
		await owner.page.mouse.move(box.x + 3 + tries, box.y + box.height / 2);
		await owner.page.locator(".xterm-cursor-pointer").waitFor(); // which xterm.js takes off while it draws the row anew
		await owner.page.mouse.click(box.x + 12, box.y + box.height / 2);
		await owner.page.waitForTimeout(300);
	}
	await dialog.getByText("https://example.com/path").waitFor();
	await dialog.getByRole("button", { name: "No" }).click();
	await owner.page.mouse.click(box.x + Math.min(cell, 9) * 6, box.y + box.height / 2);
	await owner.page.waitForTimeout(300);
	assert.equal(await owner.page.getByRole("dialog").count(), 0);
	assert.equal(owner.context.pages().length, 1);
	await session.end();
});

test("the clipboard is filled only after a yes, and never read", async () => {
	const { session, process } = await house.session();
	const owner = await house.owner(session, { permissions: ["clipboard-read", "clipboard-write"] });
	await owner.page.evaluate(() => navigator.clipboard.writeText("mine"));
	const channel = session.channel({ after: null });
	await channel.open();
	const put = printf(`\\033]52;c;${Buffer.from("rm -rf ~").toString("base64")}\\007`);
	const clipboard = (): Promise<string> => owner.page.evaluate(() => navigator.clipboard.readText());
	await channel.write(process, put);
	const dialog = owner.page.getByRole("dialog", { name: "Let the program fill your clipboard?" });
	await dialog.getByText("rm -rf ~").waitFor();
	assert.equal(await clipboard(), "mine");
	await dialog.getByRole("button", { name: "No" }).click();
	assert.equal(await clipboard(), "mine");
	await channel.write(process, put);
	await dialog.getByRole("button", { name: "Copy" }).click();
	await owner.page.waitForTimeout(200);
	assert.equal(await clipboard(), "rm -rf ~");
	await session.end();
});

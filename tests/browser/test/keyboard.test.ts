import assert from "node:assert/strict";
import { House, test, type Visitor } from "./visitor.js";

const house = await House.ofFile();

/** Go on by Tab until what has the focus is called NAME. */
async function tabTo(visitor: Visitor, name: string): Promise<void> {
	const seen: string[] = [];
	while (seen.length < 40) {
		await visitor.page.keyboard.press("Tab");
		const called = await visitor.page.evaluate(() => {
			const { activeElement: element } = document;
			const label = element instanceof HTMLInputElement ? element.labels?.[0]?.textContent : null;
			return element?.getAttribute("aria-label") ?? label ?? element?.textContent ?? "";
		});
		if (called === name) {
			return;
		}
		seen.push(called);
	}
	assert.fail(`no way by Tab to "${name}", but to ${seen.join(", ")}`);
}

test("with nothing but a keyboard: from the sessions to a typed line, another tab, a search, a note", async () => {
	const owner = await house.visitor();
	const { keyboard } = owner.page;
	await owner.page.goto(`${house.url}/#${house.server.token}`);
	await owner.page.getByRole("button", { name: "New session" }).waitFor();
	await tabTo(owner, "New session");
	await keyboard.press("Enter");
	await owner.sees("$");
	await keyboard.type("for i in $(seq 300); do echo needle $i; done\n");
	await owner.sees("needle 300");

	await keyboard.press("Control+Shift+F");
	await keyboard.type("needle 17\n");
	await owner.sees("needle 17");
	const field = owner.page.getByLabel("Search in the scrollback");
	assert.equal(await field.getAttribute("aria-invalid"), "false");
	await keyboard.type(" is not there");
	await owner.page.locator('.search-bar input[aria-invalid="true"]').waitFor();
	await keyboard.press("Escape");
	await field.waitFor({ state: "hidden" });
	await keyboard.type("echo back in the $((1+1))nd place\n");
	await owner.sees("back in the 2nd place");

	await keyboard.press("Control+Shift+L");
	await tabTo(owner, "New terminal");
	await keyboard.press("Enter");
	await owner.page.getByRole("tab").nth(1).waitFor();
	await owner.sees(/^(?!.*needle).*\$/);
	await keyboard.type("echo in the other\n");
	await owner.sees("in the other");
	await keyboard.press("Control+Shift+L");
	await keyboard.press("ArrowLeft");
	await keyboard.press("Enter");
	await owner.sees("2nd place");
	await keyboard.press("Control+Shift+L");
	await keyboard.press("Control+Shift+L");
	await tabTo(owner, "A note to this moment");
	await keyboard.type("by keys alone\n");
	await owner.page.locator(".note", { hasText: "by keys alone" }).waitFor();
	await owner.accessibility();
});

test("two terminals side by side: what is typed goes to the one that was chosen", async () => {
	const { session } = await house.session();
	await session.start({ argv: ["/bin/bash", "--norc"], terminal: { cols: 80, rows: 24 }, name: "second" });
	const owner = await house.owner(session);
	await owner.page.getByRole("tab", { name: "second" }).waitFor();
	await owner.page.getByRole("button", { name: "Split" }).click();
	const panes = owner.page.locator(".pane");
	await panes.nth(1).waitFor();
	assert.equal(await panes.count(), 2);
	for (const [i, other] of [
		[0, 1],
		[1, 0],
	] as const) {
		await panes.nth(i).locator(".xterm-screen").click();
		await owner.page.keyboard.type(`echo place $((40+${i}))\n`);
		await panes
			.nth(i)
			.locator(".xterm-rows", { hasText: `place ${40 + i}` })
			.waitFor();
		assert.ok(!(await panes.nth(other).innerText()).includes(`place ${40 + i}`));
	}
	await owner.accessibility();
	await owner.page.getByRole("button", { name: "Split" }).click();
	await panes.nth(1).waitFor({ state: "detached" });
	await session.end();
});

test("a paste of many lines is one paste where the program asked for that, and lines where it did not", async () => {
	const { session } = await house.session();
	const owner = await house.owner(session);
	await owner.context.grantPermissions(["clipboard-read", "clipboard-write"]);
	const paste = async (text: string): Promise<void> => {
		await owner.page.evaluate((wanted) => navigator.clipboard.writeText(wanted), text);
		await owner.page.locator(".pane .xterm-screen").first().click();
		await owner.page.keyboard.press("Control+Shift+V");
	};
	await owner.sees("$");
	await owner.types("PS1='> '; clear\n");
	await owner.sees(/^> *$/m); // between its prompts bash asks for nothing
	await paste("echo one $((1+0))\necho two $((1+1))\n");
	await owner.sees("echo two $((1+1))");
	const pasted = await owner.screen(); // bash asked for it: nothing runs before a key says so
	assert.ok(!pasted.includes("\none 1"), pasted);
	await owner.page.keyboard.press("Enter");
	await owner.sees("two 2");
	await owner.types("clear; echo of''f; cat -v\n"); // what is pasted before the page knows of the mode is pasted by the old one
	await owner.sees(/^off/m);
	await paste("first line\nsecond line\n");
	await owner.sees(/(first line.*){2}/);
	await owner.sees(/(second line.*){2}/);
	await owner.page.keyboard.press("Control+C");
	await owner.types("clear; printf '\\033[?2004h'; echo o''n; cat -v\n");
	await owner.sees(/^on/m);
	await paste("a\nb");
	await owner.page.keyboard.press("Enter");
	await owner.sees("^[[200~a");
	await owner.sees("b^[[201~");
	await session.end();
});

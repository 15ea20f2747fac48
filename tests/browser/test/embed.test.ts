import assert from "node:assert/strict";
import { after, before } from "node:test";
import { parse } from "acorn";
import type { Page } from "playwright-core";
import { Site, type Embedded } from "./site.js";
import { EMOJI, EMOJI_SHOWN, House, test } from "./visitor.js";

let allowed: Site;
let strange: Site;
let house: House;
before(async () => {
	allowed = await Site.open();
	strange = await Site.open();
	house = await House.open("--allow-origin", allowed.origin);
});
after(async () => {
	allowed.close();
	strange.close();
	await house.close();
});

/** An event that a page heard of its element. */
interface Heard {
	readonly name: string;
	readonly detail: Readonly<Record<string, number>>;
}

async function shows(page: Page, text: string): Promise<void> {
	await page.waitForFunction(
		(wanted) => document.querySelector<Embedded>("sandbar-terminal")?.text.includes(wanted),
		text,
	);
}

test("one tag shows a terminal in a page of another origin, which hears of it and types", async () => {
	const { session } = await house.session();
	const { token } = await session.share({ role: "editor" });
	allowed.policy = `default-src 'none'; script-src ${house.url}; connect-src ${house.url} ${house.server.url}; img-src data:`;
	allowed.html = `<body><script src="${house.url}/embed.js" data-session="${session.id}" data-token="${token}" data-theme="dark"></script>`;
	const visitor = await house.visitor();
	await visitor.page.goto(allowed.origin);
	await shows(visitor.page, "$");
	await visitor.page.evaluate(() =>
		document.querySelector<Embedded>("sandbar-terminal")?.write("echo $((6*7)) typed\r"),
	);
	await shows(visitor.page, "42 typed");
	const code = await visitor.page.evaluate(async () => {
		const ending = await document.querySelector<Embedded>("sandbar-terminal")?.run("echo ran; exit 5");
		return ending?.exit_code;
	});
	assert.equal(code, 5);
	await shows(visitor.page, "ran");
	await visitor.page.reload();
	await shows(visitor.page, "$");
	assert.deepEqual(visitor.faults, [], "nothing that the host page's own strict policy forbids");
	await session.end();
});

test("characters are as wide as the server's terminal has them", async () => {
	const { session } = await house.session();
	await session.start(EMOJI);
	const { token } = await session.share({ role: "viewer" });
	allowed.policy = null;
	allowed.html = `<body><script src="${house.url}/embed.js" data-session="${session.id}" data-token="${token}"></script>`;
	const visitor = await house.visitor();
	await visitor.page.goto(allowed.origin);
	await shows(visitor.page, EMOJI_SHOWN);
	await session.end();
});

test("an origin that is not on the list is refused, and the page says so", async () => {
	const { session } = await house.session();
	const { token } = await session.share({ role: "viewer" });
	strange.html = `<body><script src="${house.url}/embed.js" data-session="${session.id}" data-token="${token}"></script>`;
	const visitor = await house.visitor();
	await visitor.page.goto(strange.origin);
	const told = `does not allow this page's origin, ${strange.origin}`;
	await visitor.page.locator("sandbar-terminal .notice", { hasText: told }).waitFor();
	assert.equal((await session.shares())[0]?.used, 0, "the token was never heard");
	await session.end();
});

test("the element: events, read-only, and a size that its container gives", async () => {
	const { session, process } = await house.session();
	const { token } = await session.share({ role: "editor" });
	allowed.policy = null;
	allowed.html = `<body><script src="${house.url}/embed.js"></script><div id="place"></div>`;
	const visitor = await house.visitor();
	await visitor.page.goto(allowed.origin);
	await visitor.page.evaluate(
		({ id, secret }) => {
			const element = document.createElement("sandbar-terminal");
			Object.assign(globalThis, { heard: [] });
			for (const name of ["ready", "exit", "gap"]) {
				element.addEventListener(name, () => (globalThis as unknown as { heard: string[] }).heard.push(name));
			}
			element.setAttribute("session", id);
			element.setAttribute("token", secret);
			element.setAttribute("readonly", "");
			element.style.height = "300px";
			document.querySelector("#place")?.append(element);
		},
		{ id: session.id, secret: token },
	);
	await shows(visitor.page, "$");
	await visitor.page.evaluate(() => document.querySelector<Embedded>("sandbar-terminal")?.write("refused\r"));
	const height = await visitor.page.evaluate(() => document.querySelector("sandbar-terminal")?.clientHeight);
	assert.equal(height, 300);
	await session.kill(process);
	await visitor.page.waitForFunction(() => (globalThis as unknown as { heard: string[] }).heard.includes("exit"));
	const heard = await visitor.page.evaluate(() => (globalThis as unknown as { heard: string[] }).heard);
	assert.deepEqual(heard, ["ready", "exit"]);
	assert.ok(
		!(await visitor.page.evaluate(() => document.querySelector<Embedded>("sandbar-terminal")?.text))?.includes(
			"refused",
		),
	);
	await session.end();
});

test("the element hears of what it missed, of each ending, and takes the keyboard", async () => {
	const { session, process } = await house.session();
	const wait = await session.start({
		argv: ["bash", "-c", "seq 200000; echo counted; read -r line; echo got $line; sleep 600"],
		terminal: { cols: 80, rows: 24 },
	});
	await session.kill(process);
	const owner = await house.owner(session);
	await owner.sees("counted");
	const { token } = await session.share({ role: "editor" });
	allowed.policy = null;
	allowed.html = `<body><input><script src="${house.url}/embed.js"></script>
		<sandbar-terminal session="${session.id}" token="${token}" process="${wait}"></sandbar-terminal>
		<script>
			const heard = [];
			for (const name of ["ready", "gap", "exit"]) {
				document.querySelector("sandbar-terminal").addEventListener(name, ({ detail }) => heard.push({ name, detail }));
			}
		</script>`;
	const visitor = await house.visitor();
	await visitor.page.goto(allowed.origin);
	await shows(visitor.page, "counted");
	await visitor.page.locator("input").focus();
	await visitor.page.evaluate(() => document.querySelector<Embedded>("sandbar-terminal")?.focus());
	await visitor.page.keyboard.type("keys\n");
	await shows(visitor.page, "got keys");
	await visitor.page.evaluate(() => document.querySelector<Embedded>("sandbar-terminal")?.run("echo ran; exit 5"));
	await visitor.page.waitForFunction("heard.some(({ name }) => name === 'exit')");
	const heard = await visitor.page.evaluate<readonly Heard[]>("heard");
	assert.deepEqual(
		heard.map(({ name }) => name),
		["gap", "ready", "exit"],
	);
	assert.ok((heard[0]?.detail.to ?? 0) > (heard[0]?.detail.from ?? Infinity), "more than is replayed was written");
	assert.equal(heard[1]?.detail.process, wait);
	assert.equal(heard[2]?.detail.exit_code, 5);
	await session.end();
});

test("a page's own xterm.js shows a session by the add-on, and types into it", async () => {
	const { session } = await house.session();
	await session.start(EMOJI);
	const { token } = await session.share({ role: "editor" });
	allowed.policy = null;
	allowed.html = `<link rel="stylesheet" href="/xterm.css"><body><div id="place"></div>
		<script src="/xterm.js"></script><script src="/unicode11.js"></script><script src="${house.url}/embed.js"></script>
		<script>
			const states = [];
			const terminal = new Terminal({ cols: 80, rows: 24, allowProposedApi: true });
			terminal.loadAddon(new Unicode11Addon.Unicode11Addon());
			terminal.unicode.activeVersion = "11";
			terminal.open(document.querySelector("#place"));
			const addon = new Sandbar.SandbarAddon({
				url: "${house.url}", session: "${session.id}", token: "${token}",
				onState: (state) => states.push(state), onReady: (process) => states.push(process),
			});
			terminal.loadAddon(addon);
			const text = () => Array.from({ length: 24 }, (_, row) => terminal.buffer.active.getLine(row).translateToString(true)).join("\\n");
		</script>`;
	const visitor = await house.visitor();
	await visitor.page.goto(allowed.origin);
	await visitor.page.waitForFunction(`text().includes(${JSON.stringify(EMOJI_SHOWN)})`);
	assert.deepEqual(await visitor.page.evaluate("states"), ["connected", 2]);
	const ran = visitor.page.evaluate(
		"addon.run('read -r -p code: line; exit $line').then((ending) => ending.exit_code)",
	);
	await visitor.page.waitForFunction("text().includes('code:')");
	await visitor.page.locator(".xterm-screen").click();
	await visitor.page.keyboard.type("4\n");
	assert.equal(await ran, 4);
	await session.end();
});

const POLLING = { polling: 50 }; // a tab behind another draws no frames

/** Type each of TEXTS, which begins with the numbers of one of PAGES and of an element there, and see that it arrived. */
async function typeInto(pages: readonly Page[], texts: readonly string[]): Promise<void> {
	const isThere = (wanted: string): boolean => {
		const all = [...document.querySelectorAll<Embedded>("sandbar-terminal")]; // none while a tab opens
		return all.length > 0 && all.every(({ text }) => text.includes(wanted));
	};
	const isSeen = (wanted: string): boolean =>
		[...document.querySelectorAll<Embedded>("sandbar-terminal")].some(({ text }) => text.includes(wanted));
	for (const page of pages) {
		await page.waitForFunction(isThere, "\n", POLLING);
	}
	for (const text of texts) {
		const [page, element] = [pages[Number(text.charAt(0))], Number(text.charAt(1))];
		await page?.bringToFront(); // what is behind another is given little time
		await page?.evaluate(
			({ at, typed }) => document.querySelectorAll<Embedded>("sandbar-terminal")[at]?.write(typed),
			{ at: element, typed: `${text}\r` },
		);
		await page?.waitForFunction(isSeen, `<${text}>`, POLLING);
	}
}

test("what is typed into two elements of one session, and into those of a copied tab, all arrives", async () => {
	const { session, process } = await house.session();
	await session.kill(process);
	const echo = async (): Promise<number> =>
		session.start({
			argv: ["bash", "-c", 'stty -echo; echo ready; echo set; while read -r line; do echo "<$line>"; done'],
			terminal: { cols: 80, rows: 24 },
		});
	const [first, second] = [await echo(), await echo()];
	const { token, share } = await session.share({ role: "editor", uses: 4 });
	const element = (shown: number): string =>
		`<sandbar-terminal session="${session.id}" token="${token}" process="${shown}"></sandbar-terminal>`;
	allowed.policy = null;
	allowed.html = `<body><script src="${house.url}/embed.js"></script>${element(first)}${element(first)}${element(second)}`;
	const visitor = await house.visitor();
	await visitor.page.goto(allowed.origin);
	await typeInto([visitor.page], ["00 one", "01 two", "02 three", "00 four", "01 five"]);
	const used = async (): Promise<number | undefined> =>
		(await session.shares()).find((row) => row.share === share)?.used;
	assert.equal(await used(), 2, "elements of different processes are one client");
	await visitor.page.reload();
	await typeInto([visitor.page], ["01 six", "00 seven", "02 eight"]);
	assert.equal(await used(), 2, "who comes again is known");
	const opening = visitor.context.waitForEvent("page");
	await visitor.page.evaluate(() => void window.open(location.href)); // it gets a copy of the tab's storage
	const copy = await opening;
	await typeInto([visitor.page, copy], ["10 nine", "00 ten", "11 eleven", "01 twelve", "12 thirteen", "02 fourteen"]);
	assert.equal(await used(), 4);
	await copy.reload();
	await typeInto([visitor.page, copy], ["10 fifteen", "00 sixteen"]);
	assert.equal(await used(), 4);
	await visitor.page.evaluate(() => {
		const moved = document.querySelector("sandbar-terminal");
		if (moved) {
			document.body.append(moved);
		}
	});
	await typeInto([visitor.page], ["02 seventeen", "00 eighteen"]);
	assert.equal(await used(), 4, "an element that was moved is who it was");
	assert.deepEqual(visitor.faults, []);
	await session.end();
});

test("a browser that is too old is told what it lacks, in the place of each terminal", async () => {
	const { session } = await house.session();
	const { token } = await session.share({ role: "viewer" });
	const tag = `<script src="${house.url}/embed.js" data-session="${session.id}" data-token="${token}"></script>`;
	const element = `<sandbar-terminal session="${session.id}" token="${token}"></sandbar-terminal>`;
	allowed.policy = `default-src 'none'; script-src ${house.url}; connect-src ${house.url} ${house.server.url}; img-src data:`;
	allowed.html = `<body>${element}<main>${tag}</main>${element}`;
	const without: Readonly<Record<string, () => void>> = {
		"custom elements": () => Reflect.deleteProperty(window, "customElements"),
		"WebSocket, style sheets made by scripts": () => {
			Reflect.deleteProperty(window, "WebSocket");
			Reflect.deleteProperty(CSSStyleSheet.prototype, "replaceSync");
		},
		"whole numbers of 64 bits": () => Reflect.deleteProperty(window, "BigInt"),
	};
	for (const [lacking, remove] of Object.entries(without)) {
		const old = await house.visitor();
		await old.context.addInitScript(remove);
		await old.page.goto(allowed.origin);
		const told = old.page.getByText(`This browser is too old to show the terminal: it lacks ${lacking}.`);
		await old.page.waitForFunction(() => document.querySelectorAll("[role=status]").length === 3);
		assert.equal(await told.count(), 3, lacking);
		assert.equal(await old.page.locator("main").locator(told).count(), 1, "where the tag stands");
		assert.deepEqual(old.faults, []);
	}
	await session.end();
});

test("in a browser that is too old an xterm.js of the page's own shows what it lacks", async () => {
	allowed.policy = null;
	allowed.html = `<body><link rel="stylesheet" href="/xterm.css"><div id="place"></div><script src="/xterm.js"></script>
		<script src="${house.url}/embed.js"></script><script>
			const terminal = new Terminal({ cols: 120 });
			terminal.open(place);
			terminal.loadAddon(new Sandbar.SandbarAddon({ url: "${house.url}", session: "x", token: "x" }));
		</script>`;
	const old = await house.visitor();
	await old.context.addInitScript(() => Reflect.deleteProperty(window, "WebSocket"));
	await old.page.goto(allowed.origin);
	await old.page.locator(".xterm-rows", { hasText: "too old to show the terminal: it lacks WebSocket." }).waitFor();
	assert.deepEqual(old.faults, []);
});

test("every browser since 2016 can read embed.js, and every one what the pages ask for", async () => {
	const textOf = async (path: string): Promise<string> => (await fetch(house.url + path)).text();
	parse(await textOf("/embed.js"), { ecmaVersion: 2015, sourceType: "script" });
	parse(await textOf("/needs.js"), { ecmaVersion: 5, sourceType: "script" });
});

test("a page makes the tag, which works on that page and, as it was copied, on another; and the add-on too", async () => {
	const { session, process } = await house.session();
	const owner = await house.owner(session);
	await owner.types("echo to be $((1+1))nd hand\n");
	await owner.sees("to be 2nd hand");
	await owner.page.goto("about:blank");
	await owner.page.goto(`${house.url}/embed#session=${session.id}`);
	assert.equal(await owner.page.getByLabel("Session", { exact: true }).inputValue(), session.id);
	await owner.page.getByLabel("What they may do").selectOption("editor");
	await owner.page.getByLabel("Theme").selectOption("dark");
	await owner.page.getByLabel("Height").fill("300px");
	await owner.page.getByLabel("read-only").check();
	await owner.page.getByRole("button", { name: "Make the tag" }).click();
	const tag = await owner.page.locator("#embed-tag").innerText();
	await owner.accessibility();
	await owner.page.getByRole("button", { name: "Try the tag" }).click();
	await shows(owner.page, "to be 2nd hand");
	await owner.page.setViewportSize({ width: 1280, height: 1240 });
	await owner.picture("embed");
	await owner.page.getByRole("button", { name: "Try the add-on" }).click();
	await owner.page.locator(".demo > .xterm .xterm-rows", { hasText: "to be 2nd hand" }).waitFor();
	await owner.accessibility();
	assert.deepEqual(owner.faults, []);

	allowed.policy = null;
	allowed.html = `<body>${tag}`;
	const visitor = await house.visitor();
	await visitor.page.goto(allowed.origin);
	await shows(visitor.page, "to be 2nd hand");
	const element = visitor.page.locator("sandbar-terminal");
	assert.equal(await element.evaluate((shown) => shown.clientHeight), 300);
	assert.equal(await element.evaluate((shown) => shown.style.background), "rgb(16, 24, 27)");
	await element.evaluate((shown) => (shown as Embedded).write("refused\r"));
	const [share] = await session.shares();
	assert.deepEqual([share?.role, share?.used], ["editor", 3]);
	await session.kill(process);
	await session.end();
});

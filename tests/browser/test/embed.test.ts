import assert from "node:assert/strict";
import { createServer, type Server as HttpServer } from "node:http";
import { after, before } from "node:test";
import type { Page } from "playwright-core";
import { EMOJI, EMOJI_SHOWN, House, test } from "./visitor.js";

/** A site of somebody else: one page, with a policy of its own where it has one. */
class Site {
	html = "";
	policy: string | null = null;
	private constructor(
		private readonly server: HttpServer,
		readonly origin: string,
	) {}

	static async open(): Promise<Site> {
		const server = createServer((_request, response) => {
			const policy = site.policy === null ? {} : { "content-security-policy": site.policy };
			response.writeHead(200, { "content-type": "text/html; charset=utf-8", ...policy });
			response.end(
				`<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>site</title>${site.html}`,
			);
		});
		await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
		const address = server.address();
		const site = new Site(server, `http://127.0.0.1:${typeof address === "object" ? (address?.port ?? 0) : 0}`);
		return site;
	}

	close(): void {
		this.server.close();
		this.server.closeAllConnections();
	}
}

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

interface Embedded extends HTMLElement {
	readonly text: string;
	run(command: string): Promise<{ readonly exit_code: number }>;
	write(text: string): void;
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

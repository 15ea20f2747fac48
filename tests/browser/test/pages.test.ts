import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Locator } from "playwright-core";
import { Session } from "sandbar";
import { EMOJI, EMOJI_SHOWN, House, test } from "./visitor.js";

const house = await House.ofFile();

test("from the link to a shared, driven, annotated terminal", async () => {
	const program = await house.program();
	const { token } = await program.call("token.create", {
		name: "browser",
		rights: ["read", "run", "manage", "admin"],
		uses: 1,
	});
	const owner = await house.visitor();
	await owner.page.goto(`${house.url}/#${token as string}`);
	await owner.connected();
	assert.equal(new URL(owner.page.url()).hash, "", "the token stands in no history");
	await owner.accessibility();
	await owner.page.getByRole("button", { name: "New session" }).click();
	await owner.sees("$");
	await owner.types("echo hello $((6*7))\n");
	await owner.sees("hello 42");

	await owner.page.getByRole("button", { name: "Share" }).click();
	await owner.page.getByLabel("What they may do").selectOption("editor");
	await owner.page.getByRole("button", { name: "Make a link" }).click();
	const link = await owner.page.getByLabel("The link", { exact: true }).inputValue();
	await owner.page.getByRole("img", { name: "The link as a QR code" }).waitFor();
	await owner.accessibility();
	await owner.picture("share");
	await owner.page.getByRole("button", { name: "Done" }).click();

	const guest = await house.visitor({ colorScheme: "dark" });
	await guest.page.goto(link);
	await guest.sees("hello 42");
	await owner.page.locator(".person", { hasText: "guest" }).waitFor();

	await owner.page.getByLabel("Who types").selectOption("driver");
	await owner.page.getByRole("button", { name: "Take over" }).click();
	await owner.page.getByText("You drive").waitFor();
	await guest.types("refused");
	await guest.page.getByRole("button", { name: "Request" }).click();
	await owner.page.getByRole("button", { name: "Hand over to guest" }).click();
	await guest.page.getByText("You drive").waitFor();
	await guest.types("ls --color=always -x /usr; echo by the $((1+1))nd, a guest\n");
	await owner.sees("by the 2nd, a guest");
	assert.ok(!(await owner.screen()).includes("refused"), "who does not drive types nothing");

	await owner.page.getByLabel("A note to this moment").fill("Here the guest took over");
	await owner.page.getByRole("button", { name: "Pin" }).click();
	await guest.page.locator(".note", { hasText: "Here the guest took over" }).waitFor();
	await owner.accessibility();
	await guest.accessibility();
	await owner.picture("session");
	await guest.picture("session-dark");

	await owner.page.getByRole("button", { name: "Remove guest" }).click();
	await owner.page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
	await guest.page.getByRole("heading", { name: /removed|may not/ }).waitFor();
	await owner.page.goto(house.url);
	await owner.page.locator(".session").first().waitFor();
	const again = await house.visitor();
	await again.page.goto(`${house.url}/#${token as string}`);
	await again.page.getByRole("heading", { name: "This link does not sign in any more" }).waitFor();
	await again.page.getByText(/The link was used already\..*“sandbar token link” prints another/).waitFor();
});

test("of two browsers that open one link one is signed in, stays so over a reload, and is told from the other", async () => {
	const program = await house.program();
	const { id, token } = await program.call("token.create", { name: "browser", uses: 1 });
	const racers = [await house.visitor(), await house.visitor()] as const;
	await Promise.all(racers.map(({ page }) => page.goto(`${house.url}/#${token as string}`)));
	await Promise.all(racers.map(({ page }) => page.locator(".head").or(page.locator(".stop")).waitFor()));
	const isIn = await racers[0].page.locator(".head").count();
	const [winner, loser] = isIn ? racers : ([racers[1], racers[0]] as const);
	await loser.page.locator(".stop", { hasText: "The link was used already." }).waitFor();
	await loser.accessibility();
	await winner.connected();
	await winner.page.reload();
	await winner.connected();
	await winner.page.goto("about:blank");
	await winner.page.goto(`${house.url}/#${token as string}`);
	await winner.connected(); // who is signed in stays so
	await loser.page.reload();
	await loser.page.getByRole("heading", { name: "Who are you?" }).waitFor();
	interface Row {
		readonly id: string;
		readonly name: string;
		readonly used: number;
		readonly created_us: number;
		readonly expires_us: number | null;
	}
	const rows = (await program.call("token.list")).tokens as readonly Row[];
	const link = rows.findIndex((row) => row.id === id);
	assert.equal(rows[link]?.used, 1);
	const own = rows[rows.length - 1];
	assert.ok(own && own.id !== id && own.name === "browser" && own.expires_us !== null, JSON.stringify(rows));
	await program.call("token.revoke", { id: own.id });
	await winner.page.getByRole("heading", { name: /may not see|not good/ }).waitFor();
});

test("while somebody types, what an owner has open of the people stays", async () => {
	const { session } = await house.session();
	const owner = await house.owner(session);
	const { token } = await session.share({ role: "editor", name: "guest" });
	const guest = await house.visitor();
	await guest.page.goto(`${house.url}/#${token}`);
	await guest.sees("$");
	const role = owner.page.getByLabel("Role of guest");
	await role.focus();
	await guest.types("typed");
	const typing = owner.page.locator(".person[data-typing]", { hasText: "types…" });
	await typing.waitFor();
	await typing.waitFor({ state: "detached" });
	assert.equal(await role.evaluate((select) => select === document.activeElement), true);
	await session.end();
});

test("characters are as wide as the server's terminal has them", async () => {
	const { session } = await house.session();
	await session.start(EMOJI);
	const owner = await house.owner(session);
	await owner.page.getByRole("tab", { name: "emoji" }).click();
	await owner.sees(EMOJI_SHOWN);
	await session.end();
});

test("tabs: a shell is called so, and the chosen one shows its whole name beside many others", async () => {
	const { session, process } = await house.session();
	const name = "the eighth of many, with a long name that is not cut";
	for (let i = 0; i < 7; i++) {
		await session.start({ argv: ["sleep", "600"], name: `number ${i} of those that are in the way here` });
	}
	await session.start({ argv: ["sleep", "600"], name });
	await session.start({ argv: ["bash", "-c", "sleep 600"], terminal: { cols: 80, rows: 24 } });
	const owner = await house.owner(session);
	const tab = owner.page.getByRole("tab", { name });
	await owner.page.locator(".tab", { hasText: /^bash -c sleep 600$/ }).waitFor();
	assert.equal(await owner.page.locator(`.tab[data-process="${process}"]`).textContent(), `shell ${process}`);
	await tab.click();
	await owner.page.locator('.tab[aria-selected="true"]', { hasText: name }).waitFor();
	assert.equal(await tab.evaluate((element) => element.scrollWidth > element.clientWidth), false);
	await session.end();
});

test("a reload in mid-flood, and the gateway put anew under an open page", async () => {
	const { session } = await house.session();
	const owner = await house.owner(session);
	await owner.types("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); echo line $i; done; echo the end\n");
	await owner.sees("line ");
	await owner.page.reload();
	await owner.connected();
	await owner.sees("the end");
	house.server.replaceGateway();
	await owner.page.locator('.state[data-state="cut"]').waitFor();
	await owner.connected();
	await owner.types("echo after $((40+2))\n");
	await owner.sees("after 42");
	await session.end();
	await owner.page.getByText("The session has ended.").waitFor();
});

test("what cannot be shown says why", async () => {
	const { session } = await house.session();
	const stranger = await house.visitor();
	const says = async (address: string, words: RegExp): Promise<void> => {
		await stranger.page.goto("about:blank");
		await stranger.page.goto(house.url + address);
		await stranger.page.getByRole("heading", { name: words }).waitFor();
	};
	await says("/", /Who are you/);
	await says("/session", /Which session/);
	await says(`/session#session=${session.id}`, /Who are you/);
	await says("/#wrong.token.text", /not good any more/);
	const owner = await house.owner(session);
	await owner.page.goto("about:blank");
	await owner.page.goto(`${house.url}/session#session=aaaaaaaaaaaaaaaa`);
	await owner.page.getByRole("heading", { name: /no such session/ }).waitFor();
	const revoked = await session.share({ role: "viewer" });
	await session.unshare(revoked.share);
	await says(`/#${revoked.token}`, /not good any more/);
	const brief = await session.share({ role: "viewer", expiresMs: 1000 });
	await new Promise((resolve) => setTimeout(resolve, 2500));
	await says(`/#${brief.token}`, /not good any more/);
	await session.end();
});

test("a link that is revoked while it is open, and one that is used up", async () => {
	const { session } = await house.session();
	const shared = await session.share({ role: "viewer" });
	const link = `${house.url}/#${shared.token}`;
	const first = await house.visitor();
	await first.page.goto(link);
	await first.connected();
	await first.page.getByText("You watch").waitFor();
	const second = await house.visitor();
	await second.page.goto(link);
	await second.page.getByRole("heading", { name: /not good any more/ }).waitFor();
	await first.page.reload();
	await first.connected();
	await session.unshare(shared.share);
	await first.page.getByRole("heading", { name: /may not see|not good/ }).waitFor();
	await session.end();
});

test("on a phone: a row of keys, and everything in reach", async () => {
	const { session } = await house.session();
	const owner = await house.owner(session, { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true });
	await owner.types("sleep 600\n");
	await owner.sees("sleep 600");
	const keys = owner.page.getByRole("toolbar", { name: "Keys" });
	await keys.getByRole("button", { name: "Ctrl" }).tap();
	await owner.page.keyboard.type("c");
	await owner.sees("^C");
	await owner.types("sleep 601\n");
	await owner.sees("sleep 601");
	await keys.getByRole("button", { name: "Control C" }).tap();
	await owner.sees(/\^C.*\^C/);
	await owner.accessibility();
	await owner.picture("phone");
	const width = await owner.page.evaluate(() => document.documentElement.scrollWidth);
	assert.ok(width <= 390, `nothing stands beside the screen: ${width}`);
	await session.end();
});

test("with the graphics card; and without one, and without any storage", async () => {
	const { session, process } = await house.session();
	const drawn = await house.owner(session, { webgl: true });
	await drawn.page.locator(".xterm canvas").first().waitFor();
	const { token } = await session.share({ role: "editor" });
	const bare = await house.visitor({ webgl: true });
	await bare.context.addInitScript(() => {
		const { getContext } = HTMLCanvasElement.prototype as { getContext: (kind: string) => unknown };
		Object.assign(HTMLCanvasElement.prototype, {
			getContext(this: HTMLCanvasElement, kind: string): unknown {
				return kind.startsWith("webgl") ? null : getContext.call(this, kind);
			},
		});
		for (const name of ["localStorage", "sessionStorage"]) {
			Object.defineProperty(window, name, {
				get: () => {
					throw new DOMException("no storage", "SecurityError");
				},
			});
		}
	});
	await bare.page.goto(`${house.url}/#${token}`);
	await bare.connected();
	await bare.types("echo drawn by the $((1+1))nd way\n");
	await bare.sees("drawn by the 2nd way");
	await session.kill(process);
	await bare.page.getByText(/Ended: killed/).waitFor();
	await session.end();
});

test("the sessions' page shows what each uses, live", async (context) => {
	const lack = await house.lack("cgroup-memory", "cgroup-cpu");
	if (lack !== null) {
		context.skip(lack);
		return;
	}
	const { session } = await house.session();
	const { session: idle } = await house.session();
	await session.update({ name: "nightly tests" });
	await idle.update({ name: "review with Anna" });
	await session.start({ argv: ["bash", "-c", "x=$(head -c 60M /dev/zero | tr '\\0' x); while :; do :; done"] });
	const owner = await house.visitor();
	await owner.page.goto(`${house.url}/#${house.server.token}`);
	const row = (id: string): Locator => owner.page.locator(".session", { has: owner.page.locator(`#session-${id}`) });
	const shows = (id: string, text: RegExp): Promise<void> => row(id).locator(".usage", { hasText: text }).waitFor();
	await shows(session.id, /CPU ([2-9]\d|\d{3,}) %.*Memory ([6-9]\d|\d{3}) MiB/);
	await shows(idle.id, /CPU \d %.*Memory \d/);
	const line = `.session:has(#session-${session.id}) .usage-line path`;
	await owner.page.waitForFunction((path) => {
		const drawn = document.querySelector(path)?.getAttribute("d") ?? "";
		return drawn.split("L").length >= 6;
	}, line);
	await owner.accessibility();
	await owner.picture("sessions");
	await Promise.all([session.end(), idle.end()]);
});

test("of another template than the usual one a session's row says so, and is found by it", async () => {
	const folder = mkdtempSync(join(tmpdir(), "sandbar-template-"));
	const file = join(folder, "sandbar.conf");
	writeFileSync(file, "[template small]\nprocesses = 16\n");
	const other = await House.open("--config", file);
	try {
		const [small, usual] = [{ template: "small" }, {}].map(async (params) =>
			Session.create(await other.program(), params),
		);
		const [one, two] = [(await small)?.id ?? "", (await usual)?.id ?? ""];
		const owner = await other.visitor();
		await owner.page.goto(`${other.url}/#${other.server.token}`);
		const row = (id: string): Locator =>
			owner.page.locator(".session", { has: owner.page.locator(`#session-${id}`) });
		await row(one).locator(".tag", { hasText: "template: small" }).waitFor();
		assert.equal(await row(two).locator(".tag").count(), 0);
		await owner.page.getByLabel("Search").fill("small");
		await row(two).waitFor({ state: "detached" });
		await row(one).waitFor();
		await owner.accessibility();
		other.check();
	} finally {
		await other.close();
		rmSync(folder, { recursive: true });
	}
});

test("a browser that is too old is told what it lacks, on every page", async () => {
	const old = await house.visitor();
	await old.context.addInitScript(() => {
		Reflect.deleteProperty(window, "HTMLDialogElement");
		Reflect.deleteProperty(CSSStyleSheet.prototype, "replaceSync");
	});
	for (const path of ["/", "/session", "/replay"]) {
		await old.page.goto(house.url + path);
		await old.page.getByRole("heading", { name: "This browser is too old" }).waitFor();
		await old.page.getByText("lacks: style sheets made by scripts, dialogs.").waitFor();
		assert.equal(await old.page.locator("header").count(), 0, "and nothing else is tried");
		await old.accessibility();
	}
});

test("a slow tab in a flood: it skips, says so, and answers keys; the others miss nothing", async () => {
	const { session } = await house.session();
	const slow = await house.owner(session);
	const throttle = await slow.context.newCDPSession(slow.page);
	await throttle.send("Emulation.setCPUThrottlingRate", { rate: 6 });
	const flood = await session.start({
		argv: [
			"bash",
			"-c",
			"for i in $(seq 400000); do echo L${i}E of a flood; done; read -p 'a key: ' x; echo got $x",
		],
		terminal: { cols: 80, rows: 24 },
		name: "flood",
	});
	const channel = session.channel({ after: 0, mode: "lossless", processes: [flood] });
	let bytes = 0;
	channel.on("output", (output) => (bytes += output.bytes.length));
	await channel.open();
	await slow.page.getByRole("tab", { name: "flood" }).click();
	await slow.sees(/L\d+E of a flood/);
	const asked = Date.now();
	await slow.page.getByRole("button", { name: "People and notes" }).click();
	assert.ok(Date.now() - asked < 5000, "the page is not frozen");
	await slow.sees("a key:");
	await slow.types("yes\n");
	await slow.sees("got yes");
	const ending = await session.wait(flood);
	assert.equal(bytes, ending.offsets.tty);
	await session.end();
});

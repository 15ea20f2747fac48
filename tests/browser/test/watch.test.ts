import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { BIN } from "sandbar/test/server";
import type { Session } from "sandbar";
import { House, PATIENCE_MS, test, type Visitor } from "./visitor.js";

const house = await House.ofFile();

/** Draws as agents' tools do: colours, a line that is drawn over, a region that scrolls, wide characters, the cursor moved. */
const RUN = String.raw`
printf '\033[1mbuilding\033[0m \033[32mok\033[0m\n'
for i in $(seq 50); do printf '\r\033[K\033[33mstep %d of 50\033[0m' $i; sleep 0.05; done
printf '\n\033[5;12r\033[5;1H'
for i in $(seq 30); do printf 'log \033[3%dmline %d\033[0m 日本\n' $((i % 7 + 1)) $i; sleep 0.02; done
printf '\033[r\033[20;10H\033[7m reverse \033[0m \033[38;2;10;100;30mby its parts\033[0m\033[22;1H\033[4mthe run is over\033[0m\n'
sleep 600`;

async function run(session: Session): Promise<number> {
	return session.start({ argv: ["bash", "-c", RUN], terminal: { cols: 80, rows: 24 }, name: "agent" });
}

/** Somebody with the link that an agent's owner handed out. */
async function watcher(session: Session): Promise<Visitor> {
	const { token } = await session.share({ role: "viewer" });
	const visitor = await house.visitor();
	await visitor.page.goto(`${house.url}/#${token}`);
	await visitor.page.getByRole("tab", { name: "agent" }).click();
	return visitor;
}

test("an agent's run, watched by two browsers, one of which came later: both see the same screen", async () => {
	const { session } = await house.session();
	const process = await run(session);
	const first = await watcher(session);
	await first.sees(/step \d+ of 50/);
	const second = await watcher(session);
	await first.sees("the run is over");
	await second.sees("the run is over");
	const seen = await first.cells();
	assert.deepEqual(await second.cells(), seen);
	assert.ok(
		seen.some((line) => line.includes("<color: rgb(10, 100, 30);>by its parts")),
		seen.join("\n"),
	);
	await second.page.reload();
	await second.page.getByRole("tab", { name: "agent" }).click();
	await second.sees("the run is over");
	assert.deepEqual(await second.cells(), seen, "also drawn anew from the server");
	await session.kill(process);
	await session.end();
});

/** A line as wide as the terminal, and what stands in its last column. */
const WIDE = "printf '%*s\\n' $(tput cols) 'the edge'";

/** How many rows the terminal on the page has, and the columns up to the end of the line that says TEXT. */
async function sizeOf(visitor: Visitor, text: string): Promise<readonly [number, number | undefined]> {
	const lines = (await visitor.screen()).split("\n");
	return [lines.length, lines.find((line) => line.endsWith(text))?.length];
}

test("a terminal that has another size than usual is drawn at it by who comes later, and in a tab that is opened later", async () => {
	const { session, process: shell } = await house.session();
	await session.kill(shell);
	const program = `export TERM=xterm; ${WIDE}; read -r line; yes 'filling what a tab keeps' | head -c 1600000; ${WIDE}; echo over; sleep 600`;
	const argv = ["bash", "-c", program];
	const agent = await session.start({ argv, terminal: { cols: 100, rows: 30 }, name: "agent" });
	const other = await session.start({ argv, terminal: { cols: 90, rows: 20 }, name: "behind" });
	const channel = session.channel({ after: 0 });
	let seen = "";
	channel.on("output", ({ process, bytes }) => (seen += process === other ? new TextDecoder().decode(bytes) : ""));
	await channel.open();
	const visitor = await watcher(session);
	await visitor.sees("the edge");
	assert.deepEqual(await sizeOf(visitor, "the edge"), [30, 100]);
	await session.setTerminal(other, { size: "fixed", cols: 120, rows: 40 });
	await new Promise((resolve) => setTimeout(resolve, 1000)); // also the screen that follows a change of size is there
	await channel.write(other, "\r");
	while (!seen.includes("over")) {
		await new Promise((resolve) => setTimeout(resolve, 20));
	}
	await new Promise((resolve) => setTimeout(resolve, 1000)); // the page has it, too
	await visitor.page.getByRole("tab", { name: "behind" }).click();
	await visitor.sees("over");
	assert.deepEqual(await sizeOf(visitor, "the edge"), [40, 120], "what said the size is not kept any more");
	await Promise.all([session.kill(agent), session.kill(other)]);
	await session.end();
});

/** A person at a terminal, by a tmux server of its own. */
class Window {
	private constructor(private readonly socket: string) {}

	/** Its socket is in FOLDER. */
	static open(folder: string, name: string, ...argv: readonly string[]): Window {
		const window = new Window(join(folder, `${name}.tmux`));
		window.tmux("new-session", "-d", "-x", "100", "-y", "30", ...argv);
		return window;
	}

	/** The lines that are on its screen. */
	lines(): readonly string[] {
		return this.tmux("capture-pane", "-p")
			.split("\n")
			.map((line) => line.trimEnd());
	}

	async sees(text: string): Promise<void> {
		const since = Date.now();
		while (!this.lines().some((line) => line.includes(text))) {
			assert.ok(Date.now() - since < PATIENCE_MS, `no "${text}" on\n${this.lines().join("\n")}`);
			await new Promise((resolve) => setTimeout(resolve, 50));
		}
	}

	types(text: string): void {
		this.tmux("send-keys", "-l", "--", text);
		this.tmux("send-keys", "Enter");
	}

	close(): void {
		this.tmux("kill-server");
	}

	private tmux(...argv: readonly string[]): string {
		return execFileSync("tmux", ["-S", this.socket, "-f", "/dev/null", ...argv], {
			encoding: "utf8",
			env: { ...process.env, LC_ALL: "C.UTF-8", TERM: "xterm-256color" },
		});
	}
}

test("a browser and two `sandbar attach` in tmux at one terminal: what one types, all see, and the same screen", async () => {
	const { session, process: shell } = await house.session();
	await session.setTerminal(shell, { size: "fixed", cols: 80, rows: 24 });
	const { state } = house.server;
	const attach = [join(BIN, "sandbar"), "--state", state, "attach", session.id, String(shell)];
	const owner = await house.owner(session);
	const one = Window.open(state, "one", ...attach);
	const two = Window.open(state, "two", ...attach);
	const windows = [one, two];
	try {
		await owner.types("PS1='> '; echo by the $((1+1))nd way: 日本\n");
		await one.sees("by the 2nd way");
		one.types("printf '\\033[10;20Hplaced\\033[15;1H'; echo from tmux");
		for (const window of windows) {
			await window.sees("from tmux");
		}
		await owner.sees(/placed.*from tmux/);
		two.types("echo the last");
		for (const window of windows) {
			await window.sees("the last");
		}
		await owner.sees(/the last.*the last/);
		const seen = (await owner.screen()).split("\n");
		for (const window of windows) {
			assert.deepEqual(window.lines().slice(0, 24), seen.slice(0, 24));
		}
	} finally {
		windows.forEach((window) => window.close());
	}
	await session.end();
});

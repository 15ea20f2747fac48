import assert from "node:assert/strict";
import { after, before, test as nodeTest } from "node:test";
import {
	CommandHandle,
	Connection,
	Limit,
	Sandbox,
	SandbarError,
	Session,
	type CommandExitError,
} from "../src/index.js";
import { Server, Wire } from "./server.js";

function test(name: string, story: () => Promise<void>): void {
	void nodeTest(name, { timeout: 120_000 }, story);
}

let server: Server;
before(async () => {
	server = await Server.start();
});
const opened: { close(): void }[] = []; // also by a test that failed
after(async () => {
	opened.forEach((connection) => connection.close());
	await server.stop();
});

async function create(url = server.url): Promise<Sandbox> {
	const sandbox = await Sandbox.create({ url, token: server.token });
	opened.push(sandbox.session.connection);
	return sandbox;
}

async function connected(url = server.url): Promise<Connection> {
	const connection = new Connection({ url, token: server.token, client: "js-test" });
	await connection.open();
	return connection;
}

/** WAITING settles though nothing tells it so any more; if it does not, that is an error. */
async function settles(waiting: Promise<unknown>): Promise<void> {
	let timer: ReturnType<typeof setTimeout> | undefined;
	const late = new Promise((_, reject) => {
		timer = setTimeout(() => reject(new Error("it does not settle")), 20_000);
	});
	await Promise.race([waiting, late]).finally(() => clearTimeout(timer));
}

/** The code of the error with which WAITING, which is WHAT, is rejected. */
async function refused(waiting: Promise<unknown>, what: string): Promise<string> {
	const told = waiting.then(
		() => assert.fail(`${what}: it was done`),
		(error: unknown) => (error instanceof SandbarError ? error.code : String(error)),
	);
	await settles(told).catch((error: unknown) => assert.fail(`${what}: ${String(error)}`));
	return told;
}

async function until(isSo: () => boolean): Promise<void> {
	while (!isSo()) {
		await new Promise((resolve) => setTimeout(resolve, 5));
	}
}

/** LINES lines `L<n>E`, and what is wrong with TEXT as their series: "" when nothing is. */
function faultOfLines(text: string, lines: number): string {
	const expected = Array.from({ length: lines }, (_, i) => `L${i + 1}E\n`).join("");
	if (text === expected) {
		return "";
	}
	let at = 0;
	while (text[at] === expected[at]) {
		at++;
	}
	return `differs at byte ${at} of ${expected.length}: …${text.slice(Math.max(0, at - 20), at + 20)}…`;
}

test("a command runs, and says what it wrote and how it ended", async () => {
	const sandbox = await create();
	const heard: string[] = [];
	const result = await sandbox.commands.run("echo out; echo err >&2", { onStdout: (text) => heard.push(text) });
	assert.equal(result.stdout, "out\n");
	assert.equal(result.stderr, "err\n");
	assert.equal(result.exitCode, 0);
	assert.equal(heard.join(""), "out\n");
	await assert.rejects(sandbox.commands.run("exit 7"), (error: CommandExitError) => error.result.exitCode === 7);
	await sandbox.kill();
});

test("input reaches a command, and what ends it is told", async () => {
	const sandbox = await create();
	const cat = await sandbox.commands.run("cat", { background: true, stdin: true });
	await cat.sendStdin("hello");
	await until(() => cat.stdout === "hello");
	assert.equal(await sandbox.commands.kill(cat.pid), true);
	await assert.rejects(cat.wait(), (error: CommandExitError) => error.result.reason === "killed");
	assert.equal(cat.stdout, "hello");
	await sandbox.kill();
});

test("a terminal takes keys and a size, and can be followed by another client", async () => {
	const sandbox = await create();
	let screen = "";
	const decoder = new TextDecoder();
	const pty = await sandbox.pty.create({
		cols: 80,
		rows: 24,
		argv: ["bash", "--norc"],
		onData: (bytes) => (screen += decoder.decode(bytes, { stream: true })),
	});
	const other = await Sandbox.connect(sandbox.sandboxId, { url: server.url, token: server.token });
	opened.push(other.session.connection);
	let seen = "";
	const followed = await other.pty.connect(pty.pid, { onData: (bytes) => (seen += new TextDecoder().decode(bytes)) });
	await sandbox.pty.sendInput(pty.pid, "echo $((6*7)); exit 3\r");
	await assert.rejects(pty.wait(), (error: CommandExitError) => error.result.exitCode === 3);
	await assert.rejects(followed.wait(), (error: CommandExitError) => error.result.exitCode === 3);
	assert.match(screen, /\r42\r\n/);
	assert.match(seen, /\r42\r\n/);
	other.disconnect();
	await sandbox.kill();
});

test("a wrong token is told as such, and a wrong address too", async () => {
	const wrong = new Connection({ url: server.url, token: "wrong" });
	await assert.rejects(wrong.open(), (error: SandbarError) => error.code === "unauthenticated");
	const nobody = new Connection({ url: "ws://127.0.0.1:1", token: "x" });
	await assert.rejects(nobody.open(), (error: SandbarError) => error.code === "connect");
	assert.equal(nobody.state, "given_up");
});

test("errors of requests name what was wrong, and the connection lives", async () => {
	const connection = await connected();
	const failed = connection.call("session.info", { session: "aaaaaaaaaaaaaaaa" });
	await assert.rejects(failed, (error: SandbarError) => error.code === "not_found");
	assert.equal(connection.state, "connected");
	const session = await Session.create(connection);
	await session.end();
	connection.close();
});

test("over ten cuts every byte of output comes once and in order, and every byte of input arrives once", async () => {
	const wire = await Wire.to(server);
	opened.push(wire);
	const sandbox = await create(wire.url);
	const lines = 200_000;
	const producer = await sandbox.commands.run(`for i in $(seq ${lines}); do echo "L$i""E"; done`, {
		background: true,
	});
	const counter = await sandbox.commands.run("sha256sum", { background: true, stdin: true });
	const cutter = setInterval(() => wire.cuts < 10 && wire.cut(), 150);
	const input = "0123456789abcdef".repeat(16_384);
	const sending: Promise<void>[] = [];
	for (let at = 0; at < input.length; at += 8192) {
		sending.push(counter.sendStdin(input.slice(at, at + 8192)));
		await new Promise((resolve) => setTimeout(resolve, 50));
	}
	await Promise.all(sending);
	const channel = sandbox.session.channel({ after: null });
	await channel.open();
	assert.equal(faultOfLines((await producer.wait()).stdout, lines), "");
	clearInterval(cutter);
	assert.equal(wire.cuts, 10);
	await sandbox.commands.closeStdin(counter.pid);
	const { createHash } = await import("node:crypto");
	assert.equal((await counter.wait()).stdout.split(" ")[0], createHash("sha256").update(input).digest("hex"));
	await sandbox.kill();
	wire.close();
});

test("when the gateway is replaced, nothing is missing afterwards", async () => {
	const sandbox = await create();
	const epoch = sandbox.session.connection.welcome?.epoch ?? 0;
	const producer = await sandbox.commands.run('for i in $(seq 400); do echo "L$i""E"; sleep 0.005; done', {
		background: true,
	});
	await new Promise((resolve) => setTimeout(resolve, 500));
	server.replaceGateway();
	assert.equal(faultOfLines((await producer.wait()).stdout, 400), "");
	assert.ok((sandbox.session.connection.welcome?.epoch ?? 0) > epoch);
	await sandbox.kill();
});

test("who waits for input to be taken goes on when the process has ended, and when the connection is closed", async () => {
	const sandbox = await create();
	const deaf = async (): Promise<CommandHandle> =>
		sandbox.commands.run("sleep 600", { background: true, stdin: true });
	const [killed, left] = [await deaf(), await deaf()];
	const sending = [killed.sendStdin("x".repeat(500_000)), sandbox.commands.closeStdin(killed.pid)];
	const parting = left.sendStdin("x".repeat(500_000));
	await new Promise((resolve) => setTimeout(resolve, 500)); // the server holds it all, the pipes a part
	await killed.kill();
	await settles(Promise.all(sending));
	sandbox.disconnect();
	await settles(parting);
	const other = await connected();
	await new Session(other, sandbox.sandboxId).end();
	other.close();
});

test("after a cut nothing is told to processes that have ended", async () => {
	const sandbox = await create();
	const channel = sandbox.session.channel({ after: null });
	const refused: string[] = [];
	channel.on("refused", ({ code }) => refused.push(code));
	await channel.open();
	const cat = await sandbox.session.start({ argv: ["cat"], stdin: true });
	const terminal = await sandbox.session.start({ argv: ["sleep", "600"], terminal: { cols: 80, rows: 24 } });
	const over = new Set<number>();
	channel.on("exited", ({ process }) => over.add(process));
	await channel.endInput(cat);
	channel.resize(terminal, 100, 30);
	await sandbox.session.kill(terminal);
	await until(() => over.size === 2);
	const attached = new Promise((resolve) => channel.on("attached", resolve));
	sandbox.session.connection.cut();
	await attached;
	assert.equal((await sandbox.session.info()).template, "default");
	assert.deepEqual(refused, []);
	await sandbox.kill();
});

test("the size of a viewer's window counts once he may type", async () => {
	const sandbox = await create();
	const process = await sandbox.session.start({ argv: ["sleep", "600"], terminal: { cols: 80, rows: 24 } });
	await sandbox.session.setTerminal(process, { size: "smallest" });
	const { token } = await sandbox.session.share({ role: "editor" });
	const guest = new Connection({ url: server.url, token });
	opened.push(guest);
	await guest.open();
	const channel = new Session(guest, sandbox.sandboxId).channel();
	const { participant } = await channel.open();
	await sandbox.session.setRole(participant, "viewer");
	await until(() => channel.role === "viewer");
	channel.resize(process, 50, 10);
	const resized = new Promise<number>((resolve) => channel.on("resized", ({ cols }) => resolve(cols)));
	await sandbox.session.setRole(participant, "editor");
	await settles(resized);
	assert.equal(await resized, 50);
	await sandbox.kill();
});

test("a sandbox that cannot be had leaves no connection open", async () => {
	const { connection: make } = Sandbox;
	const made: { readonly state: string }[] = [];
	Sandbox.connection = (options) => {
		const connection = make(options);
		made.push(connection);
		return connection;
	};
	const options = { url: server.url, token: server.token };
	await assert.rejects(Sandbox.create({ ...options, template: "none-such" }));
	await assert.rejects(Sandbox.connect("aaaaaaaaaaaaaaaa", options));
	Sandbox.connection = make;
	assert.deepEqual(
		made.map(({ state }) => state),
		["closed", "closed"],
	);
});

test("a sandbox whose channel was refused or closed opens another for the next command", async () => {
	const sandbox = await create();
	const channels = Array.from({ length: Limit.CHANNELS }, () => sandbox.session.channel({ after: null }));
	await Promise.all(channels.map((channel) => channel.open()));
	await assert.rejects(sandbox.commands.run("true"), (error: SandbarError) => error.code === "limit");
	await channels[0]?.detach();
	assert.equal((await sandbox.commands.run("echo here")).stdout, "here\n");
	await sandbox.kill();
});

/** How a connection comes to its end. */
const ENDS: Readonly<Record<string, (sandbox: Sandbox, wire: Wire, token: string) => Promise<void>>> = {
	"it was closed": (sandbox) => {
		sandbox.disconnect();
		return Promise.resolve();
	},
	"its token was revoked": async (sandbox, _wire, id) => {
		const owner = await connected();
		await owner.call("token.revoke", { id });
		owner.close();
		await until(() => sandbox.session.connection.state === "given_up");
	},
	"it was tried for too long": async (sandbox, wire) => {
		wire.close();
		await until(() => sandbox.session.connection.state === "given_up");
	},
};

test("behind the end of a connection nothing waits, and nothing that is asked then does", async () => {
	for (const [end, bring] of Object.entries(ENDS)) {
		const wire = await Wire.to(server);
		opened.push(wire);
		const owner = await connected();
		opened.push(owner);
		const { id, token } = await owner.call("token.create", { name: "passing" });
		const sandbox = await Sandbox.create({ url: wire.url, token: token as string, giveUpMs: 500 });
		const { session } = sandbox;
		opened.push(session.connection);
		const running = await sandbox.commands.run("sleep 600", { background: true, stdin: true });
		const unopened = session.channel();
		const waiting: Readonly<Record<string, Promise<unknown>>> = {
			"a command": running.wait(),
			"an ending": session.wait(running.pid),
		};
		const failing = Object.entries(waiting).map(([what, one]) => refused(one, `${end}: ${what}`));
		await bring(sandbox, wire, id as string);
		await Promise.all(failing);
		const asked: Readonly<Record<string, () => Promise<unknown>>> = {
			"a command": () => sandbox.commands.run("echo x"),
			"another command": () => sandbox.commands.run("echo x", { background: true }),
			"a process to follow": () => sandbox.commands.connect(running.pid),
			input: () => sandbox.commands.sendStdin(running.pid, "x"),
			"the end of input": () => sandbox.commands.closeStdin(running.pid),
			"a terminal": () => sandbox.pty.create({ cols: 80, rows: 24 }),
			"a terminal's input": () => sandbox.pty.sendInput(running.pid, "x"),
			"a terminal's size": () => sandbox.pty.resize(running.pid, { cols: 80, rows: 24 }),
			"a channel": () => session.channel().open(),
			"a channel that was made before": () => unopened.open(),
			"the same once more": () => unopened.open(),
			"a channel's request": () => session.channel().call("terminal.take", { process: running.pid }),
			"a shell": () => session.connection.call("shell.start", { session: session.id }),
			"the session": () => session.info(),
		};
		for (const [what, ask] of Object.entries(asked)) {
			assert.equal(await refused(ask(), `${end}: ${what}`), "closed", `${end}: ${what}`);
		}
		await settles(unopened.write(running.pid, "x"));
		await settles(running.sendStdin("x"));
		await new Session(owner, session.id).end();
		owner.close();
		wire.close();
	}
});

test("a channel that was detached is not opened again", async () => {
	const sandbox = await create();
	const channel = sandbox.session.channel({ after: null });
	await channel.open();
	await channel.detach();
	assert.equal(await refused(channel.open(), "the channel"), "closed");
	await sandbox.kill();
});

test("a command that nothing follows, because the channel went as soon as it was there, is not waited for", async () => {
	const sandbox = await create();
	const { session } = sandbox;
	const make = session.channel.bind(session);
	session.channel = (options) => {
		const channel = make(options);
		channel.on("attached", () => void channel.detach());
		return channel;
	};
	assert.equal(await refused(sandbox.commands.run("echo x"), "the command"), "closed");
	session.channel = make;
	assert.equal((await sandbox.commands.run("echo here")).stdout, "here\n");
	await sandbox.kill();
});

test("an aborted request does nothing more, whenever it was aborted", async () => {
	const sandbox = await create();
	const { session } = sandbox;
	const argv = (name: string) => ["sh", "-c", `sleep 1; touch /work/${name}`];
	for (const [name, wait] of [
		["before", null],
		["at-once", 0],
		["while-it-runs", 300],
	] as const) {
		const abort = new AbortController();
		if (wait === null) {
			abort.abort();
		}
		const call = session.connection.call(
			"process.run",
			{ session: session.id, argv: argv(name), grace_ms: 100 },
			abort.signal,
		);
		if (wait !== null) {
			setTimeout(() => abort.abort(), wait);
		}
		await assert.rejects(call, (error: SandbarError) => error.code === "cancelled", name);
	}
	assert.equal((await sandbox.commands.run("sleep 1.5; ls /work")).stdout, "");
	await sandbox.kill();
});

test("characters that are cut are whole in the text, and only what is none is replaced", async () => {
	const sandbox = await create();
	const program = [
		"import os, time",
		"for part in (b'cleanup \\xe2', b'\\x80\\x94 end', b'\\xf0\\x9f', b'\\x98\\x80', b'\\xff', b'\\xe2'):",
		"    for stream in (1, 2): os.write(stream, part)",
		"    time.sleep(.05)",
		"os.write(1, '\u{1f600}'.encode() * 300001)",
	].join("\n");
	const { stdout, stderr } = await sandbox.commands.run(`python3 - <<'END'\n${program}\nEND`);
	const expected = "cleanup \u2014 end\u{1f600}\ufffd\ufffd";
	assert.equal(stdout, expected + "\u{1f600}".repeat(300001));
	assert.equal(stderr, expected);
	await sandbox.kill();
});

test("output beyond what is kept is told, and half a character at the end is not lost", async () => {
	const sandbox = await create();
	const half = await sandbox.commands.run("printf 'x\\303'");
	assert.deepEqual([half.stdout, half.truncated], ["x\ufffd", false]);
	const handle = new CommandHandle(1, sandbox.session, sandbox.session.channel(), {});
	const megabyte = new Uint8Array(1024 * 1024).fill(0x78);
	for (let i = 0; i < 65; i++) {
		handle.output("stdout", megabyte);
	}
	handle.exited(half.ending);
	const { stdout, truncated } = await handle.wait();
	assert.deepEqual([stdout.length, truncated], [64 * 1024 * 1024, true]);
	await sandbox.kill();
});

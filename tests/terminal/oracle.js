// The VT core beside xterm.js: the same bytes give the same cells, cursor and modes; and who is shown a screen in the middle
// and then what comes sees the same as who saw all. Prints a line for each test, "ok NAME" or "not ok NAME" with what
// differs below; leaves with 1 if one failed.
//
//     node oracle.js PROGRAM [--seed N] [--programs N] [--items N]
"use strict";

const fs = require("fs");
const path = require("path");

const { Core, bytes } = require("./core.js");
const { differ, differInLines } = require("./compare.js");
const emulator = require("./emulator.js");
const { Random, program } = require("./grammar.js");

const LINES = 1000;
const SCREEN_BYTES = 32768; // of a usual program at 80x24, without the lines above

function options(words) {
  const found = { seed: Math.floor(Math.random() * 2 ** 31), programs: 300, items: 80 };
  for (let i = 0; i + 1 < words.length; i += 2) found[words[i].replace("--", "")] = Number(words[i + 1]);
  return found;
}

let failures = 0;

function report(name, problems) {
  if (problems.length > 0) failures++;
  console.log(`${problems.length > 0 ? "not ok" : "ok"} ${name}`);
  for (const problem of problems) console.log(`    ${problem}`);
}

const named = (name, problems) => problems.map((problem) => `${name}: ${problem}`);

async function shown(size, ...pieces) {
  const terminal = emulator.create(size[0], size[1], LINES);
  await emulator.write(terminal, Buffer.concat(pieces));
  return { dump: await emulator.dump(terminal), lines: emulator.scrollback(terminal) };
}

// What differs between who saw all of TEXT, the core, and who was shown a screen at each of MOMENTS.
async function compare(core, size, text, moments, bound) {
  core.command(`new ${size[0]} ${size[1]} ${LINES}`);
  let before = 0;
  for (const moment of moments) {
    core.feed(text.subarray(before, moment));
    core.command(`screen ${LINES}`).command("screen 0").command("pending");
    before = moment;
  }
  const told = core.feed(text.subarray(before)).command("dump").play();
  const live = await shown(size, text);
  const problems = named("live, core", differ(live.dump, told[told.length - 1], { wrapped: "all", base: true }));
  for (let i = 0; i < moments.length && problems.length === 0; i++) {
    const [screen, plain, pending] = told.slice(3 * i, 3 * i + 3).map(bytes);
    const moment = `live, late at byte ${moments[i]}`;
    const now = await shown(size, text.subarray(0, moments[i])), late = await shown(size, screen, pending);
    problems.push(...named(moment, differ(now.dump, late.dump, { wrapped: true })), ...named(moment, differInLines(now.lines, late.lines)));
    const later = await shown(size, screen, pending, text.subarray(moments[i]));
    problems.push(...named(`${moment}, at the end`, differ(live.dump, later.dump, { wrapped: false })));
    if (plain.length > bound) problems.push(`${moment}: a screen of ${plain.length} bytes`);
  }
  return problems;
}

const SIZES = [[80, 24], [80, 24], [20, 6], [7, 4], [132, 43]];

async function randomPrograms(core, { seed, programs, items }) {
  for (let i = 0; i < programs; i++) {
    const random = new Random(seed + i), size = random.of(SIZES);
    const text = program(random, 1 + random.below(2 * items));
    const moments = [random.below(text.length + 1), text.length].sort((a, b) => a - b);
    const problems = await compare(core, size, text, moments, Infinity);
    if (problems.length > 0) report(`random seed ${seed + i} (${size[0]}x${size[1]})`, problems);
  }
  report(`${programs} random programs from seed ${seed}`, failures > 0 ? ["see above"] : []);
}

// recordings/NAME-COLUMNSxROWS.bin: what programs wrote to a terminal of that size.
async function recordings(core) {
  const folder = path.join(__dirname, "recordings");
  for (const file of fs.readdirSync(folder).filter((name) => name.endsWith(".bin")).sort()) {
    const [, name, columns, rows] = /^(.*)-(\d+)x(\d+)\.bin$/.exec(file);
    const text = fs.readFileSync(path.join(folder, file));
    const random = new Random(text.length);
    const moments = Array.from({ length: 12 }, () => random.below(text.length)).sort((a, b) => a - b);
    report(`recording ${name}`, await compare(core, [Number(columns), Number(rows)], text, [...moments, text.length], SCREEN_BYTES));
  }
}

// Modes that are set once, and long after that are in no ring of output any more.
async function modesFromLongAgo(core) {
  const size = [80, 24];
  const setup = Buffer.from("first line\r\n\x1b[?1049h\x1b[?1000h\x1b[?1002h\x1b[?1006h\x1b[?2004h\x1b[?25l\x1b[?1h\x1b[5;20r" +
    "\x1b]2;a title\x07\x1b(0");
  const random = new Random(12), frames = [];
  for (let length = 0; length < 10e6;) {
    const frame = Buffer.from(`\x1b[${5 + random.below(16)};${1 + random.below(60)}H\x1b[38;5;${random.below(256)}mlqqqk x x\x1b[0m`);
    frames.push(frame);
    length += frame.length;
  }
  const text = Buffer.concat([setup, ...frames]);
  const told = core.command("new 80 24 1000").feed(text).command("screen 0").play();
  const screen = bytes(told[0]), leave = Buffer.from("\x1b[?1049l");
  const live = await shown(size, text), late = await shown(size, screen);
  const problems = differ(live.dump, late.dump, { wrapped: true });
  const left = [await shown(size, text, leave), await shown(size, screen, leave)];
  problems.push(...named("left", differ(left[0].dump, left[1].dump, { wrapped: true })));
  if (screen.length > SCREEN_BYTES) problems.push(`a screen of ${screen.length} bytes`);
  if (live.dump.title[0] !== "a title" || live.dump.mouse.join() !== "1002,1006") problems.push("the emulator was not in these modes");
  report("modes from long ago (T12)", problems);
}

// After a change of size a screen shows what the core holds.
async function sizes(core, { seed }) {
  const problems = [];
  for (let i = 0; i < 40; i++) {
    const random = new Random(seed + i), size = random.of(SIZES), next = random.of([[90, 30], [60, 24], [10, 3], [81, 5]]);
    const text = [program(random, 60), program(random, 20)];
    core.command(`new ${size[0]} ${size[1]} ${LINES}`).feed(text[0]).command(`resize ${next[0]} ${next[1]}`);
    const told = core.feed(text[1]).command(`screen ${LINES}`).command("pending").command("dump").play();
    const late = await shown(next, bytes(told[0]), bytes(told[1]));
    problems.push(...named(`seed ${seed + i}`, differ(late.dump, told[2], { wrapped: true })));
  }
  report(`sizes from seed ${seed}`, problems.slice(0, 20));
}

async function main() {
  const chosen = options(process.argv.slice(3)), core = new Core(process.argv[2]);
  await recordings(core);
  await modesFromLongAgo(core);
  await sizes(core, chosen);
  await randomPrograms(core, chosen);
  process.exitCode = failures > 0 ? 1 : 0;
}

main();

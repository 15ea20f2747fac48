// What comes on stdin, four times, to xterm.js without a page: how fast it takes it (tests/bench/terminal/vt_xterm.sh).
"use strict";

const { create, write } = require("./emulator.js");

const ROUNDS = 4;

async function main() {
  const pieces = [];
  for await (const piece of process.stdin) pieces.push(piece);
  const input = Buffer.concat(pieces), terminal = create(80, 24, 1000);
  const begin = process.hrtime.bigint();
  for (let i = 0; i < ROUNDS; i++) await write(terminal, input);
  const seconds = Number(process.hrtime.bigint() - begin) / 1e9, bytes = ROUNDS * input.length;
  console.log(JSON.stringify({ bench: "vt_xterm", bytes, seconds, mb_s: bytes / 1e6 / seconds }));
}

main();

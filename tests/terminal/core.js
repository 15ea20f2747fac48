// The VT core, by the program terminal_dump (dump.c).
"use strict";

const { spawnSync } = require("child_process");

// Commands are gathered and run at once: `play` returns what each that tells something told.
class Core {
  constructor(program) {
    this.program = program;
    this.input = [];
  }

  command(text) {
    this.input.push(Buffer.from(text + "\n"));
    return this;
  }

  feed(bytes) {
    this.input.push(Buffer.from(`feed ${bytes.length}\n`), bytes);
    return this;
  }

  play() {
    const done = spawnSync(this.program, [], { input: Buffer.concat(this.input), maxBuffer: 1 << 30 });
    this.input = [];
    if (done.status !== 0) throw new Error(`terminal_dump left with ${done.status ?? done.signal}: ${done.stderr}`);
    return done.stdout.toString().split("\n").filter(Boolean).map((line) => JSON.parse(line));
  }
}

const bytes = (base64) => Buffer.from(base64, "base64");

module.exports = { Core, bytes };

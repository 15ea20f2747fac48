// Reads a recording with asciinema-player's own core, without a page: prints as JSON what it would show.
// usage: node play.mjs FOLDER-OF-node_modules RECORDING
import { readFileSync, readdirSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [modules, recording] = process.argv.slice(2);
const dist = new URL(`${pathToFileURL(modules)}/asciinema-player/dist/`);
const file = readdirSync(dist).find((name) => name.startsWith("core-"));
const { C: Core } = await import(new URL(file, dist));
const faults = [];
const logger = { log() {}, debug() {}, info() {}, warn: (text) => faults.push(text), error: (text) => faults.push(text) };
const core = new Core({ data: readFileSync(recording, "utf8") }, { logger, speed: 1000 });
const shown = { output: "", resizes: [], markers: [], duration: 0, faults };

core.addEventListener("output", (batch) => (shown.output += [batch].flat().join("")));
core.addEventListener("resize", ({ cols, rows }) => shown.resizes.push(`${cols}x${rows}`));
core.addEventListener("metadata", ({ duration, markers }) => Object.assign(shown, { duration, markers }));
core.addEventListener("error", (fault) => faults.push(String(fault)));
const ended = new Promise((resolve) => core.addEventListener("ended", resolve));
core.terminalReady();
await core.init();
await core.play();
await ended;
console.log(JSON.stringify(shown));
process.exit(0);

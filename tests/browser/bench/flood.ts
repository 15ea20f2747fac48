/** How many MB/s of a flood a page draws while it answers keys, in the terminal that floods, within 50 ms. */
import { setTimeout as pause } from "node:timers/promises";
import type { House } from "../test/visitor.js";
import { measure, openHouse, percentiles, watched, type Figures } from "./meter.js";

/** MB/s that the program writes, where as much as it can is too much. The first at which the page answers in time counts. */
const RATES = [8, 4, 2, 1, 0.5, 0.2];
const KEYS = 40;
const WITHIN_MS = 50;
/** Of the keys; one in twenty. */
const LATE = 2;

/** The page has compiled what draws, and its scrollback grows no more. */
const WARM_MS = 4000;

/** Floods the upper rows, and puts each key that it reads into the last one. What it could not write in time it leaves out, as a
 * build does that waited for its terminal: else it would write as much as it can until it has caught up. */
const PROGRAM = String.raw`
use Time::HiRes qw(time sleep);
my ($rate, $line) = (shift() * 1e6, "\e[32ma line\e[0m of a build's output, as long as most of them are, " . "of some words\r\n");
my $piece = $line x 40;
system("stty", "raw", "-echo");
syswrite STDOUT, "\e[2J\e[24;1Hready\e[1;22r\e[22;1H";
sleep 2;
vec(my $input, 0, 1) = 1;
for (my $due = time;;) {
	syswrite STDOUT, $piece;
	if (select(my $ready = $input, undef, undef, 0)) {
		sysread STDIN, my $key, 1 or last;
		syswrite STDOUT, "\e7\e[24;1H\e[K$key\e8";
	}
	next if !$rate;
	my $now = time;
	$due += length($piece) / $rate;
	$due = $now if $due < $now;
	select(my $woken = $input, undef, undef, $due - $now);
}`;

/** Keys beside a flood of RATE. Breaks off once too many of them were late, if it MAY. */
async function flood(house: House, rate: number, may: boolean): Promise<Figures> {
	const [visitor, keys, session] = await watched(house, ["perl", "-e", PROGRAM, String(rate)], "ready");
	await keys.watch(".xterm-rows > div:last-child");
	await pause(WARM_MS);
	await keys.times(1);
	const [before, begin] = [await keys.bytes(), performance.now()];
	const times: number[] = [];
	let late = 0;
	while (times.length < KEYS && (late <= LATE || !may)) {
		const [time = Infinity] = await keys.times(1);
		times.push(time);
		late += time > WITHIN_MS ? 1 : 0;
	}
	const seconds = (performance.now() - begin) / 1000;
	const bytes = (await keys.bytes()) - before;
	await Promise.all([visitor.context.close(), session.end()]); // nobody floods beside the next
	return { ...percentiles(times), late, drawn_mb_s: bytes / 1e6 / seconds };
}

await measure("browser_flood", async (closing) => {
	const house = await openHouse(closing);
	const all = await flood(house, 0, false);
	const whole = { all_mb_s: all.drawn_mb_s ?? 0, all_p50_us: all.p50_us ?? 0, all_p95_us: all.p95_us ?? 0 };
	if ((all.late ?? 0) <= LATE) {
		return { ...whole, mb_s: whole.all_mb_s };
	}
	for (const rate of RATES) {
		const figures = await flood(house, rate, true);
		if ((figures.late ?? 0) <= LATE) {
			return { ...whole, mb_s: figures.drawn_mb_s ?? 0 };
		}
	}
	return { ...whole, mb_s: 0 };
});

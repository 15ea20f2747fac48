// Random output of a program: text, and the sequences that the VT core knows. The same seed gives the same bytes.
"use strict";

class Random {
  constructor(seed) {
    this.state = seed >>> 0;
  }

  // mulberry32
  next() {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  below(count) {
    return Math.floor(this.next() * count);
  }

  of(list) {
    return list[this.below(list.length)];
  }

  // Small ones often, none and large ones now and then.
  count() {
    return this.of(["", "", "0", 1, 2, 3, 1 + this.below(9), 1 + this.below(40), this.below(200)]);
  }
}

const WORDS = ["a", "word", "the quick brown fox", "jumps over ", "0123456789", "~~", "x".repeat(30), " ", "   ", "日本語", "漢",
  "é", "ünï", "🙂", "🚀x", "e\u0301", "a\u0300\u0301", "│─┼", "한국", "\u200bz", "\u0301", "ｗｉｄｅ", "☃"];
const COLOURS = ["31", "42", "97", "104", "38;5;123", "48;5;17", "38;2;1;2;3", "48;2;250;128;7", "38:2::9:8:7", "48:5:200",
  "39", "49"];
const FLAGS = ["0", "", "1", "2", "3", "4", "4:3", "4:5", "4:0", "21", "5", "7", "8", "9", "53", "22", "23", "24", "25", "27", "28",
  "29", "55", "58;5;9", "58:2::3:4:5", "59"];
const SETS = ["B", "0", "A", "K", "R", "="];
const MODES = [1, 5, 6, 7, 7, 12, 25, 45, 66, 9, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 2004, 2026];

const move = (r) => `\x1b[${r.count()}${r.of("ABCDEFGIZ`ade")}`;
const place = (r) => `\x1b[${1 + r.below(26)};${1 + r.below(84)}${r.of("Hf")}`;
const edit = (r) => `\x1b[${r.count()}${r.of("@LMPSTX")}`;
const columns = (r) => `\x1b[${r.of(["", 1, 2, 5])}${r.of([" @", " A", "'}", "'~"])}`;
const erase = (r) => r.of(["\x1b[K", "\x1b[1K", "\x1b[2K", "\x1b[J", "\r\x1b[1J", "\x1b[?K", "\x1b[?1K", "\x1b[?J"]);
const clear = (r) => r.of(["\x1b[2J", "\x1b[H\x1b[2J", "\x1b[?2J", "\x1b[3J\x1b7"]);
const graphics = (r) => `\x1b[${Array.from({ length: 1 + r.below(4) }, () => r.of(r.below(2) ? COLOURS : FLAGS)).join(";")}m`;
const control = (r) => r.of(["\r\n", "\r\n", "\n", "\r", "\b", "\t", "\v", "\x1bD", "\x1bE", "\x1bM", "\x1bM", "\u0084", "\u0085"]);
const mode = (r) => `\x1b[?${r.of(MODES)}${r.of("hl")}`;
const insert = (r) => r.of(["\x1b[4h", "\x1b[4l", "\x1b[4l", "\x1b[20h", "\x1b[20l"]);
const region = (r) => r.of([`\x1b[${1 + r.below(12)};${8 + r.below(18)}r`, "\x1b[r"]);
// Two oddities of xterm.js cannot be told by a screen: it saves the cursor's line from the first one of the scrollback on, which
// ED 3 takes away; and DECRC brings back whether something was underlined or linked, but not how or where to: the new is mixed
// with the old. So none is in use when it comes, nor after it.
const PLAIN = "\x1b[m\x1b]8;;\x07";
const cursor = (r) => r.of(["\x1b7", "\x1b[s", `${PLAIN}\x1b8\x1b[24m`, `${PLAIN}\x1b[u\x1b[24m`]);
const sets = (r) => r.of([`\x1b${r.of("()*+")}${r.of(SETS)}`, "\x0e", "\x0f", "\x0f", "\x1bn", "\x1bo", "\x1b%G"]);
const tabs = (r) => r.of(["\x1bH", "\x1b[g", "\x1b[3g", "\u0088"]);
// Nor can a screen tell of a set that DECRC brought into use on the main screen and that is not designated on the alternate.
const alternate = (r) => `${r.of(["\x0e", "\x0f"])}${r.of(["\x1b]8;;\x07\x1b[?", `${PLAIN}\x1b[?`])}${r.of([47, 1047, 1049])}h`;
const leave = (r) => `${PLAIN}\x1b[?${r.of([47, 1047, 1049, 1049])}l\x1b[24m`;
const title = (r) => r.of([`\x1b]${r.of([0, 1, 2])};title ${r.below(9)} é\x07`, `\x1b[22;${r.below(3)}t`, `\x1b[23;${r.below(3)}t`]);
const link = (r) => r.of([`\x1b]8;;http://a/${r.below(4)}\x1b\\`, `\x1b]8;id=q${r.below(2)};http://b/\x07`, "\x1b]8;;\x1b\\", "\x1b]8;;\x07"]);
// No more repetitions than the smallest screen has wide characters: of more, the core leaves fewer lines above the screen.
const other = (r) => r.of([`\x1b[${r.below(7)} q`, '\x1b[1"q', '\x1b[0"q', "\x1b[!p", "\x1bc", "\x1b#8", "\x1b=", "\x1b>", "\x1b[5b", `\x1b[${r.below(16)}b`,
  "\x1b[b", "\x1b[6n", "\x1b[c", "\x1b]4;1;#123456\x07", "\x1bP$qm\x1b\\", "\x1b[99z", "\x1b[?9999h", "\x1b]777;x\x07", "\x1b^pm\x1b\\"]);

// How often each comes.
const RULES = [[30, (r) => r.of(WORDS)], [6, move], [8, place], [5, edit], [1, columns], [5, erase], [1, clear], [10, graphics],
  [12, control], [2, mode], [1, insert], [1, region], [2, cursor], [2, sets], [1, tabs], [1, alternate], [1, leave], [1, title], [1, link], [1, other]];
const TOTAL = RULES.reduce((sum, [weight]) => sum + weight, 0);

function item(random) {
  let left = random.below(TOTAL);
  for (const [weight, rule] of RULES) {
    left -= weight;
    if (left < 0) return rule(random);
  }
  return "";
}

// At the end of a line that does not wrap xterm.js drops a wide character, and makes the one before it wide if a combining
// one comes next: that is not followed.
const BEHIND_WIDE = /[日本語漢🙂한국ｗｉｄｅ]$/u;
const COMBINES = /^[\u200b\u0301]/;

function program(random, items) {
  let text = "";
  for (let i = 0; i < items; i++) {
    const next = item(random);
    if (!(COMBINES.test(next) && BEHIND_WIDE.test(text))) text += next;
  }
  return Buffer.from(text);
}

module.exports = { Random, program };

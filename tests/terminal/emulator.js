// xterm.js without a page, as the pages set it up, and what it shows, in the form in which terminal_dump tells it.
"use strict";

const { Terminal } = require("@xterm/headless");
const { Unicode11Addon } = require("@xterm/addon-unicode11");

const UNDERLINE = 1 << 28, DECORATED = 1 << 28, COLOUR = 0x3ffffff, KIND = 0x3000000, UNKNOWN_COLOUR = 0x3ffffff;
const MODES = {
  insert: 1 << 0, newline: 1 << 1, cursorKeys: 1 << 2, origin: 1 << 4, wrap: 1 << 5, blink: 1 << 6, cursor: 1 << 7,
  reverseWrap: 1 << 8, keypad: 1 << 9, focus: 1 << 10, paste: 1 << 14, synchronized: 1 << 15,
};
const KNOWN_MODES = Object.values(MODES).reduce((all, mode) => all | mode, 0);
const PROTOCOLS = { NONE: 0, X10: 9, VT200: 1000, DRAG: 1002, ANY: 1003 };
const ENCODINGS = { DEFAULT: 0, SGR: 1006, SGR_PIXELS: 1016 };
const STYLES = { block: 1, underline: 3, bar: 5 };

function create(columns, rows, scrollback) {
  const terminal = new Terminal({
    cols: columns, rows, scrollback, allowProposedApi: true, logLevel: "off",
    windowOptions: { pushTitle: true, popTitle: true },
    windowsPty: { backend: "winpty", buildNumber: 1 }, // no reflow: server/terminal/terminal.h
  });
  terminal.loadAddon(new Unicode11Addon());
  terminal.unicode.activeVersion = "11";
  return terminal;
}

const PIECE = 65536; // xterm.js cuts larger ones itself, also within a character

// In pieces that end between characters: one that is cut behind a continuation byte 0x80 is lost by xterm.js.
async function write(terminal, bytes) {
  for (let begin = 0; begin < bytes.length;) {
    let end = Math.min(begin + PIECE, bytes.length);
    while (end < bytes.length && end > begin + 1 && bytes[end] >= 0x80) end--;
    const piece = bytes.subarray(begin, end);
    await new Promise((done) => terminal.write(piece, done));
    begin = end;
  }
}

function colour(value) {
  const kind = value & KIND;
  return kind === 0 ? 0 : kind === KIND ? value & COLOUR : kind | (value & 0xff);
}

// Colours beside flags; what underlines is told apart.
function attributes(value, flags) {
  return ((value & ~COLOUR & ~flags) | colour(value)) >>> 0;
}

function underline(fg, bg, extended) {
  const style = fg & UNDERLINE ? (bg & DECORATED ? (extended._ext >> 26) & 7 : 1) : 0;
  const under = extended._ext & COLOUR;
  return [style, style && bg & DECORATED && under !== UNKNOWN_COLOUR ? colour(under) : 0];
}

function link(core, bg, extended) {
  const id = bg & DECORATED ? extended._urlId : 0;
  if (!id) return "";
  const data = core._oscLinkService.getLinkData(id);
  return data ? data.uri : null; // it forgets links whose first line is gone
}

function cell(core, line, x) {
  const content = line._data[x * 3];
  const fg = line._data[x * 3 + 1], bg = line._data[x * 3 + 2];
  const extended = (bg & DECORATED && line._extendedAttrs[x]) || { _ext: 0, _urlId: 0 };
  const [style, under] = underline(fg, bg, extended);
  let text = line.getString(x), width = content >> 22;
  if (text === "") {
    const isTail = width === 0 && x > 0 && line._data[(x - 1) * 3] >> 22 === 2;
    if (!isTail) [text, width] = [" ", width || 1];
  }
  const flags = style ? 0 : UNDERLINE;
  return [text, width, attributes(fg, flags), attributes(bg, DECORATED), style, under, link(core, bg, extended)];
}

function rowsOf(core, buffer, first, end) {
  const rows = [];
  for (let y = first; y < end && buffer.lines.length > 0; y++) {
    const line = buffer.lines.get(y), cells = [];
    for (let x = 0; x < core.cols; x++) cells.push(cell(core, line, x));
    rows.push({ wrapped: line.isWrapped, cells });
  }
  return rows;
}

const CHARSETS = ["B", "0", "A", "4", "C", "R", "Q", "K", "Y", "E", "Z", "H", "="];

// Its sets are tables without names: they are told by what they make of a few characters.
let names = null;

async function charsetNames() {
  if (names) return names;
  names = new Map();
  const terminal = create(10, 2, 0);
  for (const name of CHARSETS) {
    await write(terminal, Buffer.from(`\x1b(${name}`));
    names.set(JSON.stringify(terminal._core._charsetService.charset), name === "B" ? 0 : name.charCodeAt(0));
  }
  return names;
}

const charset = (table) => names.get(JSON.stringify(table));

function saved(core, buffer) {
  const y = Math.min(Math.max(buffer.savedY - buffer.ybase, 0), core.rows - 1);
  const attr = buffer.savedCurAttrData;
  return [Math.min(buffer.savedX, core.cols - 1), y, attributes(attr.fg, 0), attributes(attr.bg, DECORATED),
    charset(buffer.savedCharset)];
}

function screen(core, buffer) {
  return {
    region: [buffer.scrollTop, buffer.scrollBottom],
    base: buffer.ybase,
    tabs: Object.keys(buffer.tabs).map(Number).filter((x) => buffer.tabs[x] && x < core.cols),
    saved: saved(core, buffer),
    rows: rowsOf(core, buffer, buffer.ybase, buffer.ybase + core.rows),
  };
}

function modes(core) {
  const now = core.coreService.decPrivateModes;
  const on = {
    insert: core.coreService.modes.insertMode, newline: core.options.convertEol, cursorKeys: now.applicationCursorKeys,
    origin: now.origin, wrap: now.wraparound, blink: core.options.cursorBlink, cursor: !core.coreService.isCursorHidden,
    reverseWrap: now.reverseWraparound, keypad: now.applicationKeypad, focus: now.sendFocus, paste: now.bracketedPasteMode,
    synchronized: now.synchronizedOutput,
  };
  return Object.keys(on).reduce((all, name) => all | (on[name] ? MODES[name] : 0), 0);
}

function pen(core) {
  const attr = core._inputHandler._curAttrData;
  const [style, under] = underline(attr.fg, attr.bg, attr.extended);
  return [attributes(attr.fg, style ? 0 : UNDERLINE), attributes(attr.bg, DECORATED), style, under];
}

function cursorStyle(core) {
  const { cursorStyle: style, cursorBlink: blink } = core.coreService.decPrivateModes;
  return style ? STYLES[style] + (blink ? 0 : 1) : 0;
}

async function dump(terminal) {
  await charsetNames();
  const core = terminal._core, input = core._inputHandler, buffers = core.buffers, charsets = core._charsetService;
  return {
    x: buffers.active.x, y: buffers.active.y, join: (input._parser.precedingJoinState >> 1) & 3,
    alternate: buffers.active === buffers.alt, modes: modes(core),
    mouse: [PROTOCOLS[core.coreMouseService.activeProtocol], ENCODINGS[core.coreMouseService.activeEncoding]],
    style: cursorStyle(core), pen: pen(core), level: charsets.glevel,
    charsets: [0, 1, 2, 3].map((i) => charset(charsets._charsets[i])), charset: charset(charsets.charset),
    title: [...input._windowTitleStack, input._windowTitle], icon: [...input._iconNameStack, input._iconName],
    main: screen(core, buffers.normal), alt: screen(core, buffers.alt),
  };
}

// The lines above the screen, as text, without what is blank at their ends.
function scrollback(terminal) {
  const core = terminal._core, buffer = core.buffers.normal, lines = [];
  for (let y = 0; y < buffer.ybase; y++) {
    const cells = rowsOf(core, buffer, y, y + 1)[0].cells;
    while (cells.length > 0 && JSON.stringify(cells[cells.length - 1]) === '[" ",1,0,0,0,0,""]') cells.pop();
    lines.push(cells);
  }
  return lines;
}

module.exports = { create, write, dump, scrollback, KNOWN_MODES };

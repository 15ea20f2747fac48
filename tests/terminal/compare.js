// Where two dumps differ, in words.
"use strict";

const { KNOWN_MODES } = require("./emulator.js");

const SAME = ["x", "y", "alternate", "mouse", "style", "pen", "level", "charsets", "charset", "title", "icon"];

const WRAP = 1 << 5;

const text = (value) => JSON.stringify(value);

function cellDiffers(one, other) {
  for (let i = 0; i < 6; i++) if (one[i] !== other[i]) return true;
  return one[6] !== null && other[6] !== null && one[6] !== other[6]; // null: a link that xterm.js forgot
}

function* rows(name, one, other, withWrapped) {
  if (one.length !== other.length) yield `${name}: ${one.length} rows, ${other.length} rows`;
  for (let y = 0; y < Math.min(one.length, other.length); y++) {
    // A late viewer does not see it of the first line, nor of one that begins with a character that combines with nothing.
    const isShown = y > 0 && one[y].cells[0][1] > 0;
    if (withWrapped && (isShown || withWrapped === "all") && one[y].wrapped !== other[y].wrapped)
      yield `${name} row ${y}: wrapped ${one[y].wrapped}, ${other[y].wrapped}`;
    for (let x = 0; x < one[y].cells.length; x++)
      if (cellDiffers(one[y].cells[x], other[y].cells[x]))
        yield `${name} row ${y} column ${x}: ${text(one[y].cells[x])}, ${text(other[y].cells[x])}`;
  }
}

// What a combining character joins with. (A wide character that was dropped at the end of a line that does not wrap
// cannot be written again.)
function joins(dump, columns) {
  const isDropped = !(dump.modes & WRAP) && dump.x >= columns - 1;
  return isDropped ? "" : dump.join;
}

function* screens(name, one, other, options) {
  yield* rows(name, one.rows, other.rows, options.wrapped);
  for (const field of ["region", "tabs", "saved"])
    if (text(one[field]) !== text(other[field])) yield `${name} ${field}: ${text(one[field])}, ${text(other[field])}`;
  if (options.base && one.base !== other.base) yield `${name} base: ${one.base}, ${other.base}`;
}

// `wrapped`: which lines go on from the one above, too ("all": the first as well); `base`: how many lines there are above.
function* differences(one, other, options) {
  for (const field of SAME)
    if (text(one[field]) !== text(other[field])) yield `${field}: ${text(one[field])}, ${text(other[field])}`;
  const columns = one.main.rows[0].cells.length;
  if (joins(one, columns) !== joins(other, columns)) yield `join: ${one.join}, ${other.join}`;
  if ((one.modes & KNOWN_MODES) !== (other.modes & KNOWN_MODES)) yield `modes: ${one.modes}, ${other.modes}`;
  yield* screens("main", one.main, other.main, options);
  if (one.alternate && other.alternate) yield* screens("alternate", one.alt, other.alt, { ...options, base: false });
}

function differ(one, other, options) {
  const found = [];
  for (const difference of differences(one, other, options)) {
    found.push(difference);
    if (found.length > 8) break;
  }
  return found;
}

// Of lists of lines of cells, which `scrollback` gave.
function differInLines(one, other) {
  if (one.length !== other.length) return [`${one.length} lines above, ${other.length}`];
  const found = [];
  for (let y = 0; y < one.length && found.length < 8; y++) {
    const cells = Math.max(one[y].length, other[y].length);
    for (let x = 0; x < cells; x++)
      if (!one[y][x] || !other[y][x] || cellDiffers(one[y][x], other[y][x])) {
        found.push(`line ${y} column ${x}: ${text(one[y][x])}, ${text(other[y][x])}`);
        break;
      }
  }
  return found;
}

module.exports = { differ, differInLines };

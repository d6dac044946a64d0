/** The messages of two conversations side by side, in rows that belong together. */

import { box, label, svg, textWidth } from './svg.js';

const LINE = 18;
const PADDING = 12;
const GAP = { x: 28, y: 12 };
const HEAD = 34;
const INDENT = 20;
const SIDES = ['left', 'right'];

/**
 * The body has lines `row`, `  left > request | its fields`, `  right < answer | its fields`.
 * @param {Record<string, string>} settings
 * @param {string} body
 */
export function drawFrames({ title = '', desc = '', ...names }, body) {
  const rows = readRows(body);
  const texts = rows.flatMap((row) => Object.values(row)).flatMap((message) => message.texts);
  const width = Math.max(...texts.map((text) => textWidth(text, 12, 'code'))) + 2 * PADDING + INDENT;
  const start = { left: 1, right: 1 + width + GAP.x };
  const parts = SIDES.map((side) => label(start[side] + width / 2, 18, names[side], 'strong'));
  let y = HEAD;
  for (const row of rows) {
    const lines = Math.max(...Object.values(row).map((message) => message.texts.length));
    const height = lines * LINE + 2 * PADDING - 4;
    for (const side of SIDES) {
      if (row[side]) parts.push(...drawMessage(row[side], { x: start[side], y, width, height }));
    }
    y += height + GAP.y;
  }
  return svg({ width: start.right + width + 1, height: y - GAP.y + 1, title, desc }, parts);
}

function readRows(body) {
  const rows = [];
  for (const line of body.split('\n')) {
    const found = /^ {2}(left|right) ([<>]) (.+)$/.exec(line);
    if (line === 'row') rows.push({});
    else if (found && rows.length > 0)
      rows.at(-1)[found[1]] = { isSent: found[2] === '>', texts: found[3].split(' | ') };
    else throw new Error(`The line "${line}" of a diagram is not understood`);
  }
  return rows;
}

function drawMessage({ isSent, texts }, place) {
  const x = place.x + PADDING;
  const y = place.y + PADDING + 11;
  return [
    box(place, isSent ? 'tint' : 'box'),
    label(x, y, isSent ? '→' : '←', 'strong', 'start'),
    ...texts.map((text, at) =>
      label(x + INDENT, y + at * LINE, text, at === 0 ? 'code strong' : 'code', 'start'),
    ),
  ];
}

/** Boxes in columns, and arrows from one to another. A `main` box is one of ours. */

import { arrow, box, label, svg, textWidth } from './svg.js';

const LINE = 20;
const PADDING = 14;
const GAP = { x: 84, y: 20 };

/**
 * The body has lines `column`, `  box NAME: first line | second line`, `arrow NAME -> NAME: label`.
 * @param {Record<string, string>} settings
 * @param {string} body
 */
export function drawFlow({ title = '', desc = '' }, body) {
  const { columns, arrows } = readFlow(body);
  const heights = columns.map((boxes) => boxes.reduce((sum, each) => sum + each.height + GAP.y, -GAP.y));
  const tallest = Math.max(...heights);
  const placed = new Map();
  let x = 1;
  for (const [at, boxes] of columns.entries()) {
    const width = Math.max(...boxes.map((each) => each.width));
    let y = 1 + Math.round((tallest - heights[at]) / 2);
    for (const each of boxes) {
      placed.set(each.name, { ...each, x, y, width });
      y += each.height + GAP.y;
    }
    x += width + GAP.x;
  }
  return svg({ width: x - GAP.x + 1, height: tallest + 2, title, desc }, [
    ...arrows.flatMap((each) => drawArrow(each, placed)),
    ...[...placed.values()].flatMap(drawBox),
  ]);
}

function readFlow(body) {
  const columns = [];
  const arrows = [];
  for (const line of body.split('\n')) {
    const found = /^ {2}(box|main) (\w+): (.+)$/.exec(line);
    const way = /^arrow (\w+) -> (\w+)(?:: (.+))?$/.exec(line);
    if (line === 'column') columns.push([]);
    else if (found && columns.length > 0)
      columns.at(-1).push(sized(found[1], found[2], found[3].split(' | ')));
    else if (way) arrows.push({ from: way[1], to: way[2], text: way[3] });
    else throw new Error(`The line "${line}" of a diagram is not understood`);
  }
  return { columns, arrows };
}

function sized(kind, name, texts) {
  const widest = Math.max(...texts.map((text, at) => textWidth(text, at === 0 ? 15 : 13)));
  return { kind, name, texts, width: widest + 2 * PADDING, height: texts.length * LINE + 2 * PADDING - 6 };
}

function drawBox({ kind, texts, x, y, width, height }) {
  return [
    box({ x, y, width, height }, kind === 'main' ? 'tint' : 'box'),
    ...texts.map((text, at) =>
      label(x + width / 2, y + PADDING + 12 + at * LINE, text, at === 0 ? 'strong' : 'quiet'),
    ),
  ];
}

function drawArrow({ from, to, text }, placed) {
  for (const name of [from, to])
    if (!placed.has(name))
      throw new Error(`An arrow names the box "${name}", which the diagram does not have`);
  const [start, end] = [placed.get(from), placed.get(to)];
  const left = { x: start.x + start.width, y: heightTowards(start, end) };
  const right = { x: end.x, y: heightTowards(end, start) };
  if (text === undefined) return [arrow(left, right)];
  return [arrow(left, right), label((left.x + right.x) / 2, (left.y + right.y) / 2 - 7, text, 'quiet')];
}

/** Where an arrow meets a box: at the height of the other box's middle, as far as this one reaches. */
function heightTowards(one, other) {
  const middle = other.y + other.height / 2;
  return Math.round(Math.min(Math.max(middle, one.y + 12), one.y + one.height - 12));
}

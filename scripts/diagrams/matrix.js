/** A table with a heading for its rows and one for its columns. A cell that begins with `*` is in the main colour. */

import { box, label, svg } from './svg.js';

const CELL = { width: 190, height: 62, gap: 8 };
const LEFT = 120;
const TOP = 70;

/**
 * A comma in a cell begins a second, smaller line.
 * @param {Record<string, string>} settings
 * @param {string} body rows of cells between `|`
 */
export function drawMatrix({ title = '', desc = '', rows: rowsAre = '', columns: columnsAre = '' }, body) {
  const [[, ...columns], ...rows] = body.split('\n').map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  const step = { x: CELL.width + CELL.gap, y: CELL.height + CELL.gap };
  const width = LEFT + columns.length * step.x;
  const height = TOP + rows.length * step.y;
  const middle = LEFT + (columns.length * step.x - CELL.gap) / 2;
  return svg({ width, height, title, desc }, [
    label(middle, 18, columnsAre, 'strong'),
    label(LEFT / 2, TOP - 22, rowsAre, 'strong'),
    ...columns.flatMap((name, at) => twoLines(LEFT + at * step.x + CELL.width / 2, TOP - 20, name)),
    ...rows.flatMap(([name, ...cells], row) => {
      const y = TOP + row * step.y;
      return [
        label(LEFT / 2, y + CELL.height / 2 + 5, name),
        ...cells.flatMap((cell, column) => drawCell(cell, LEFT + column * step.x, y)),
      ];
    }),
  ]);
}

/**
 * @param {string} cell
 * @param {number} x
 * @param {number} y
 */
function drawCell(cell, x, y) {
  const isMain = cell.startsWith('*');
  const kinds = isMain ? ['on-accent', 'on-accent-quiet'] : ['', 'quiet'];
  const text = cell.replace(/^\* */, '');
  return [
    box({ x, y, width: CELL.width, height: CELL.height }, isMain ? 'accent' : 'box'),
    ...twoLines(x + CELL.width / 2, y + CELL.height / 2 + 5, text, kinds),
  ];
}

/**
 * @param {number} x
 * @param {number} y the base line of a single line
 * @param {string} text
 * @param {readonly string[]} [kinds]
 */
function twoLines(x, y, text, kinds = ['', 'quiet']) {
  const [first, second] = text.split(/, (.*)/);
  if (second === undefined) return [label(x, y, first, kinds[0])];
  return [label(x, y - 10, first, kinds[0]), label(x, y + 10, second, kinds[1])];
}

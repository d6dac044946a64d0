/** Numbers become the text that a person reads. */

/**
 * Three digits are all that the noise leaves; more only where the number is large.
 * @param {number | undefined} value
 */
export function number(value) {
  if (value === undefined || Number.isNaN(value)) return 'n/a';
  return Math.abs(value) < 99.95 ? value.toFixed(1) : Math.round(value).toLocaleString('en-US');
}

/**
 * @param {number | undefined} value
 * @param {string} base
 */
export function times(value, base) {
  if (value === undefined) return '';
  return `${value < 9.95 ? value.toFixed(value < 0.995 ? 2 : 1) : Math.round(value)}x ${base}`;
}

/**
 * @param {number | undefined} value
 * @param {string} base
 */
export function fraction(value, base) {
  if (value === undefined) return '';
  if (value > 2 / 3) return times(value, base);
  const parts = 1 / value;
  return `1/${parts < 9.95 ? parts.toFixed(1) : Math.round(parts)} of ${base}`;
}

/**
 * Rows of cells, numbers to the right; a row that is one string is a heading.
 * @param {readonly (readonly string[] | string)[]} rows
 */
export function align(rows) {
  const columns = Math.max(...rows.map((row) => (typeof row === 'string' ? 0 : row.length)));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => (typeof row === 'string' ? 0 : row[column].length))),
  );
  const line = (/** @type {readonly string[]} */ row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column])))
      .join('  ');
  return rows.map((row) => (typeof row === 'string' ? `\n${row}` : line(row).trimEnd())).join('\n');
}

/**
 * @param {{ subject: string, where?: string, message: string }[]} failures
 * @param {string} [word] `CANNOT` where a failure of a rival is a result
 */
export function renderFailures(failures, word = 'FAILED') {
  return failures
    .map(({ subject, where, message }) => `${word} ${subject}${where ? `, ${where}` : ''}: ${message}`)
    .join('\n');
}

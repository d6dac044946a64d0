/** What all diagrams share: the frame, the colours, text. */

const LIGHT =
  '--ink:#1c2430;--soft:#57606a;--line:#c3ccd6;--box:#f4f6f9;--accent:#0b6e75;--on-accent:#ffffff;--tint:#dff1f2;';
const DARK =
  '--ink:#e6edf3;--soft:#9aa6b2;--line:#465260;--box:#161b22;--accent:#0b6e75;--on-accent:#ffffff;--tint:#12343a;';

/** A page that includes the element itself sets `data-theme`; an image follows the reader's system. */
const STYLE = `
    .diagram { ${LIGHT} }
    @media (prefers-color-scheme: dark) { .diagram { ${DARK} } }
    [data-theme=light] .diagram { ${LIGHT} }
    [data-theme=dark] .diagram { ${DARK} }
    .diagram text { font: 15px system-ui, sans-serif; fill: var(--ink); }
    .diagram .quiet { fill: var(--soft); font-size: 13px; }
    .diagram .strong { font-weight: 600; }
    .diagram .code { font: 12px ui-monospace, Menlo, Consolas, monospace; }
    .diagram .box { fill: var(--box); stroke: var(--line); }
    .diagram .tint { fill: var(--tint); stroke: var(--accent); }
    .diagram .accent { fill: var(--accent); stroke: var(--accent); }
    .diagram .on-accent { fill: var(--on-accent); font-weight: 600; }
    .diagram .on-accent-quiet { fill: var(--on-accent); font-size: 13px; }
    .diagram .arrow { stroke: var(--soft); stroke-width: 1.5; fill: none; }
    .diagram .head { fill: var(--soft); }`;

/**
 * @param {{ width: number, height: number, title: string, desc: string }} frame
 * @param {readonly string[]} parts
 */
export function svg({ width, height, title, desc }, parts) {
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" class="diagram" viewBox="0 0 ${width} ${height}" width="${width}" role="img" aria-label="${escapeXml(title)}">`,
    `  <title>${escapeXml(title)}</title>`,
    `  <desc>${escapeXml(desc)}</desc>`,
    `  <style>${STYLE}\n  </style>`,
    '  <defs><marker id="arrow-head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto"><path class="head" d="M0 0 10 5 0 10z"/></marker></defs>',
    ...parts.map((part) => `  ${part}`),
    '</svg>',
  ];
  return `${lines.join('\n')}\n`;
}

/**
 * @param {number} x the middle, or the start
 * @param {number} y the base line
 * @param {string} content
 * @param {string} [kind]
 * @param {'middle' | 'start'} [anchor]
 */
export function label(x, y, content, kind = '', anchor = 'middle') {
  const attribute = kind === '' ? '' : ` class="${kind}"`;
  return `<text x="${x}" y="${y}" text-anchor="${anchor}"${attribute}>${escapeXml(content)}</text>`;
}

/**
 * @param {{ x: number, y: number, width: number, height: number }} place
 * @param {string} kind
 */
export function box({ x, y, width, height }, kind) {
  return `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="6" class="${kind}"/>`;
}

/**
 * @param {{ x: number, y: number }} from
 * @param {{ x: number, y: number }} to
 */
export function arrow(from, to) {
  return `<path class="arrow" d="M${from.x} ${from.y} ${to.x - 2} ${to.y}" marker-end="url(#arrow-head)"/>`;
}

/** Characters of one size have different widths. This is what most texts need, with some room. */
const CHARACTER = { sans: 0.57, code: 0.62 };

/**
 * @param {string} text
 * @param {number} size
 * @param {keyof typeof CHARACTER} [font]
 */
export function textWidth(text, size, font = 'sans') {
  return Math.ceil(text.length * size * CHARACTER[font]);
}

/** @param {string} text */
function escapeXml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

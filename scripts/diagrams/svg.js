/** What all diagrams share: the frame, the colours, text. */

const STYLE = `
    text { font: 15px system-ui, sans-serif; fill: #24292f; }
    .quiet { fill: #57606a; font-size: 13px; }
    .strong { font-weight: 600; }
    .box { fill: #f6f8fa; stroke: #d0d7de; }
    .accent { fill: #0b6e75; stroke: #0b6e75; }
    .on-accent { fill: #ffffff; font-weight: 600; }
    .on-accent-quiet { fill: #ffffff; font-size: 13px; }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3; }
      .quiet { fill: #9198a1; }
      .box { fill: #161b22; stroke: #3d444d; }
    }`;

/**
 * @param {{ width: number, height: number, title: string }} frame
 * @param {readonly string[]} parts
 */
export function svg({ width, height, title }, parts) {
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" role="img" aria-label="${escapeXml(title)}">`,
    `  <title>${escapeXml(title)}</title>`,
    `  <style>${STYLE}\n  </style>`,
    ...parts.map((part) => `  ${part}`),
    '</svg>',
  ];
  return `${lines.join('\n')}\n`;
}

/**
 * @param {number} x the middle
 * @param {number} y the base line
 * @param {string} content
 * @param {string} [kind]
 */
export function label(x, y, content, kind = '') {
  const attribute = kind === '' ? '' : ` class="${kind}"`;
  return `<text x="${x}" y="${y}" text-anchor="middle"${attribute}>${escapeXml(content)}</text>`;
}

/**
 * @param {{ x: number, y: number, width: number, height: number }} place
 * @param {string} kind
 */
export function box({ x, y, width, height }, kind) {
  return `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="6" class="${kind}"/>`;
}

/** @param {string} text */
function escapeXml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

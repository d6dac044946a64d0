/**
 * Diagrams from text. A description has lines `key: value`, an empty line, and a body. `kind` says how it is drawn.
 * A reader who cannot see it
 * hears `title` and `desc`. The images have no fonts and no scripts of their own, and follow the light or dark theme of the reader.
 */

import { drawFlow } from './flow.js';
import { drawFrames } from './frames.js';
import { drawMatrix } from './matrix.js';

const KINDS = { flow: drawFlow, frames: drawFrames, matrix: drawMatrix };

/** @param {string} text */
export function drawDiagram(text) {
  const [head, ...body] = text.trim().split('\n\n');
  const settings = Object.fromEntries(
    head.split('\n').map((line) => /^(\w+): *(.*)$/.exec(line)?.slice(1) ?? [line, '']),
  );
  const draw = KINDS[/** @type {keyof typeof KINDS} */ (settings.kind)];
  if (draw === undefined) throw new Error(`There is no kind of diagram called ${settings.kind}`);
  for (const key of ['title', 'desc'])
    if (!settings[key]) throw new Error(`A diagram needs a line "${key}: …"`);
  return draw(settings, body.join('\n\n'));
}

// npm run diagrams: draws docs/images/NAME.svg from each docs/diagrams/NAME.txt. A test fails while one is stale.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { drawDiagram } from './diagrams/draw.js';

const SOURCES = new URL('../docs/diagrams/', import.meta.url);
const IMAGES = new URL('../docs/images/', import.meta.url);

mkdirSync(IMAGES, { recursive: true });
for (const file of readdirSync(SOURCES).filter((name) => name.endsWith('.txt'))) {
  const svg = drawDiagram(readFileSync(new URL(file, SOURCES), 'utf8'));
  writeFileSync(new URL(file.replace(/\.txt$/, '.svg'), IMAGES), svg);
}

import { readdirSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { ensureBuilt } from '../../../scripts/setup.js';

const folder = fileURLToPath(new URL('../dist/web', import.meta.url));
const sizeOf = (name: string) => statSync(join(folder, name)).size;

beforeAll(() => ensureBuilt(), 120_000);

describe('the page as it ships', () => {
  it('has at most 60 kB in its first load: the document, and what it names', async () => {
    const document = gunzipSync(await readFile(join(folder, 'index.html.gz'))).toString();
    const named = [...document.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(([, name]) => `${name}.gz`);
    // What the first script imports is preloaded, and so named.
    expect(named.filter((name) => name.endsWith('.js.gz')).length).toBeGreaterThan(0);
    const bytes = ['index.html.gz', ...named].reduce((sum, name) => sum + sizeOf(name), 0);
    expect(bytes).toBeLessThanOrEqual(60_000);
  });

  it('has at most 120 kB in all', () => {
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    const files = names.filter((name) => name.endsWith('.gz') && name !== 'licenses.txt.gz');
    expect(files.length).toBeGreaterThan(2);
    expect(files.reduce((sum, name) => sum + sizeOf(name), 0)).toBeLessThanOrEqual(120_000);
  });

  it('names nothing of another host, and has no inline script or style', async () => {
    const document = gunzipSync(await readFile(join(folder, 'index.html.gz'))).toString();
    expect(document).not.toMatch(/https?:|\/\/[a-z]/i);
    expect(document).not.toMatch(/<style|\son\w+=|\sstyle=|<script(?![^>]*\ssrc=)/i);
  });
});

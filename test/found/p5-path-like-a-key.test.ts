import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readStateKeys } from 'isthmus/internal/serve/telemetry-options.js';
import { expect, it, onTestFinished } from 'vitest';

// Where the folder for temporary files has a long path, there is no path of 43 characters in it.
const isShort = /^[\w/-]{1,30}$/.test(tmpdir());

it.skipIf(!isShort)(
  'P5: --state-key reads a file whose path has the length and the characters of a key',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'k'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const path = `${folder}/`.padEnd(43, 'a');
    expect(path).toMatch(/^[\w+/-]{43}$/);
    const key = randomBytes(32).toString('base64url');
    writeFileSync(path, `${key}\n`);
    expect(readStateKeys(path)).toEqual([key]);
  },
);

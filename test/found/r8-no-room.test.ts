import { existsSync } from 'node:fs';
import { writeHint } from 'isthmus/internal/cli-error.js';
import { expect, it } from 'vitest';
import { ask, modernCall } from '../../packages/sdk/test/support/http-server.js';
import { ISTHMUS, startChild } from '../support/child.js';

/** Nothing can be made below a file, by whichever user. */
const NOWHERE = '/dev/null';
const NAMES = [
  'HOME',
  'TMPDIR',
  'XDG_RUNTIME_DIR',
  'XDG_STATE_HOME',
  'XDG_CACHE_HOME',
  'ISTHMUS_RUNTIME_DIR',
];

function startWithoutFolders(...args: string[]) {
  const before = NAMES.map((name) => [name, process.env[name]] as const);
  for (const name of NAMES) delete process.env[name];
  Object.assign(process.env, { HOME: NOWHERE, TMPDIR: NOWHERE });
  const child = startChild(ISTHMUS, { args });
  for (const [name, value] of before) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  return child;
}

it.runIf(existsSync(NOWHERE))(
  'R8: a gateway that can write nowhere serves, and says what does not work and what to do',
  async () => {
    const demo = [process.execPath, ISTHMUS, 'demo'];
    const child = startWithoutFolders('serve', '--port', '0', '--json', '-q', '--', ...demo);
    const [told] = await child.first(1);
    const [url] = (told as unknown as { addresses: [string] }).addresses;
    expect((await ask(url, modernCall(1, 'echo', { text: 'here' }))).status).toBe(200);
    expect(child.stderr).toContain('isthmus status, restart and logs cannot reach this gateway');
    expect(child.stderr).toContain(`${NOWHERE}/.local/state/isthmus/run cannot be used`);
    expect(child.stderr).toContain('Set ISTHMUS_RUNTIME_DIR to a folder that can be written to');
  },
);

it.runIf(existsSync(NOWHERE))(
  'R8: a file that cannot be written is named, with the cause and what to do',
  async () => {
    const child = startWithoutFolders('config', 'import', '-o', `${NOWHERE}/servers.json`);
    expect((await child.exit()).code).toBe(2);
    expect(child.stderr).toMatch(
      /\/dev\/null\/servers\.json cannot be written: there is no such folder\nhint: Choose another folder/,
    );
  },
);

it.each([
  ['ENOSPC', 'The disk is full, or your quota is used up: free some space, or choose another folder'],
  ['EROFS', 'That file system is read-only: choose another folder'],
  ['EACCES', 'You have no permission to write there: choose another folder, or change the permissions'],
])('R8: %s has a hint of its own', (code, hint) => {
  expect(writeHint(Object.assign(new Error('no'), { code }))).toBe(hint);
});

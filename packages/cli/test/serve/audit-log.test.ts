import { symlinkSync, unlinkSync } from 'node:fs';
import { expect, it } from 'vitest';
import { demo, freeFolder, isthmus } from '../support/isthmus.js';
import { HTTP, startServe } from '../support/serve.js';

it.runIf(process.platform === 'linux')(
  'that the audit log cannot be written is told to the person who serves one command, whatever the log shows',
  async () => {
    const file = `${freeFolder()}/audit.log`;
    symlinkSync('/dev/full', file);
    const { child, url } = await startServe(...HTTP, '--audit-log', file, ...demo());
    expect((await isthmus('call', url, 'echo', 'text=hi')).code).toBe(0);
    await child.until('a warning', () => child.stderr.includes('records wait'));
    expect(child.stderr).toMatch(
      /^isthmus: warning: the audit log cannot be written: ENOSPC.*; records wait$/m,
    );
    unlinkSync(file);
    await child.until('the end', () =>
      child.stderr.includes(`isthmus: warning: ${file} can be written again`),
    );
  },
);

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createBridge, createHost, memory, serve, stdio } from '@isthmus/sdk';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ISTHMUS } from '../support/child.js';

const FAILING = ['-e', 'console.error("no key set"); process.exit(3)'];

describe('N12: a server that does not start', () => {
  it.each(['auto', 'legacy'])(
    'N12: behind a bridge the error says so, and why, in the mode %s',
    async (mode) => {
      const servers = { broken: { command: process.execPath, args: FAILING } };
      const host = createHost({ servers, ledger: false, cache: false });
      onTestFinished(() => host.close());
      const bridge = createBridge(host.upstream('broken'));
      onTestFinished(() => bridge.close());
      const link = memory();
      const served = await serve(bridge, link);
      onTestFinished(() => served.close({ graceMs: 0 }));
      await expect(connect(link, { mode, cache: false })).rejects.toMatchObject({
        code: 'CHILD_EXITED',
        message: expect.stringMatching(
          /^memory answers, but the server behind it could not be started: broken.* stopped with code 3/,
        ),
      });
    },
  );

  it('N12: behind attach, with what it wrote to stderr', async () => {
    const home = mkdtempSync(join(tmpdir(), 'isthmus-n12-'));
    const args = [ISTHMUS, 'attach', '--', process.execPath, ...FAILING];
    const env = { HOME: home, XDG_RUNTIME_DIR: home, XDG_STATE_HOME: home };
    const attached = stdio({ command: process.execPath, args, env, label: 'attach' });
    await expect(connect(attached, { cache: false })).rejects.toMatchObject({
      code: 'CHILD_EXITED',
      message: expect.stringMatching(
        /^attach answers, but the server behind it could not be started: .*stopped with code 3.*no key set/,
      ),
    });
  });
});

import { chownSync } from 'node:fs';
import { join } from 'node:path';
import { controlClient, openControl } from '@isthmus/gateway/internal/control/index.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { freshFolder } from '../../packages/gateway/test/support/open-gateway.js';

const isRoot = process.getuid?.() === 0;

describe.runIf(isRoot)('S11: a command of root', () => {
  it.each(['socket', 'folder'])(
    'S11: does not talk to a gateway whose %s is another user’s',
    async (what) => {
      const folder = freshFolder();
      const path = join(folder, 'gateway.sock');
      let asked = 0;
      const status = async () => {
        asked += 1;
        return {} as never;
      };
      const control = await openControl({ status } as never, { path });
      onTestFinished(() => control.close());
      chownSync(what === 'socket' ? path : folder, 4242, 4242);
      await expect(controlClient(path).status()).rejects.toMatchObject({
        code: 'ADDRESS_UNAVAILABLE',
        message: `Cannot connect to the control socket ${path}: it belongs to another user (4242); run the command as that user: sudo -u '#4242' isthmus …`,
      });
      chownSync(what === 'socket' ? path : folder, 0, 0);
      const client = controlClient(path);
      await client.status();
      expect(asked).toBe(1);
    },
  );
});

import { connect, stdio } from '@isthmus/sdk';
import { expect, it, onTestFinished } from 'vitest';
import { fixture } from '../support/child.js';

it('R8: a server that dies in the middle of a line is CHILD_EXITED, with its exit code, and not INVALID_RESULT', async () => {
  const client = await connect(
    stdio({ command: process.execPath, args: [fixture('server-dies-in-a-line.mjs')] }),
    { cache: false },
  );
  onTestFinished(() => client.close());
  await expect(client.callTool('half', {})).rejects.toMatchObject({
    code: 'CHILD_EXITED',
    message: expect.stringContaining('code 7'),
  });
});

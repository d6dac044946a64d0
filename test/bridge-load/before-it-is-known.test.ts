/** Requests that come while the server behind the bridge has not said what it is. */
import { expect, it } from 'vitest';
import { call, line } from '../support/messages.js';
import { deaf, pour } from './support/deaf-client.js';
import { freshSocket, serveCommand } from './support/serve-command.js';

it.skipIf(process.platform !== 'linux')(
  'a flood of requests for a server that does not answer is not taken in: less than 250 MB for 300 MB',
  async () => {
    const { child, addresses } = await serveCommand('legacy', [freshSocket()], {
      program: '../../process/child-that-says-nothing.mjs',
    });
    const client = await deaf(addresses[0]!);
    const text = 'x'.repeat(10_000);
    await pour(client, parts());
    expect(child.peakMemory()).toBeLessThan(250);

    function* parts() {
      for (let id = 0; id < 30_000; id += 1) yield line(call(id, 'echo', { text }));
    }
  },
);

import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { ConsoleRecords } from '../../src/inspect/console-records.js';
import { InspectedServer } from '../../src/inspect/inspected-server.js';

describe('a connection that is being replaced', () => {
  it('is waited for 10 s, and then the request is refused', async () => {
    const settings = {
      ...{ mode: 'auto', roots: [] },
      asks: { forms: true, urls: true, sampling: true, roots: true },
    };
    const options = {
      ...{ settings, target: { label: 'a server', kind: 'command' as const } },
      // A connector that never comes.
      connector: () => new Promise<never>(() => {}),
      redactor: { text: (text: string) => text, json: (line: string) => line },
      explain: () => ({ message: '', likely: [], evidence: [], stderr: [] }),
      judge: async () => [],
      warnings: () => [],
      snippet: async () => ({ text: '', needs: [] }),
      say: () => {},
    };
    const clock = new FakeClock();
    const server = new InspectedServer(options, new ConsoleRecords({ isRecording: true }), clock);
    await expect(server.session()).rejects.toThrow('There is no connection to the server');
    void server.connect(settings);
    let refused = '';
    const asked = server.callTarget(undefined).catch((error: Error) => {
      refused = error.message;
    });
    clock.advance(9_999);
    await new Promise(setImmediate);
    expect(refused).toBe('');
    clock.advance(1);
    await asked;
    expect(refused).toBe('The connection to the server is being replaced');
    expect(clock.waiting).toBe(0);
  });
});

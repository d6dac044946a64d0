import { events } from '@isthmus/sdk/internal/events.js';
import { expect, it, onTestFinished } from 'vitest';
import { ask } from '../../../sdk/test/support/http-server.js';
import { runGateway } from '../../src/run-gateway.js';
import { createLog } from '../../src/telemetry/log.js';
import { createRedactor } from '../../src/telemetry/redactor.js';
import { openFar, withTools } from '../support/upstream.js';

it('messages of a server that cannot be carried are counted until the gateway ends', async () => {
  const redactor = createRedactor();
  const far = await openFar(withTools('one'));
  const running = await runGateway({
    units: [far.unit('weather')],
    addresses: ['http://127.0.0.1:0/mcp'],
    host: { ledger: false, cache: false },
    log: createLog({ level: 'error', format: 'json', redactor, destination: { write: () => {} } }),
    redactor,
  });
  onTestFinished(() => running.close({ graceMs: 0 }));
  const dropped = (connection: string) => events.dropped.publish({ connection, why: 'test', message: {} });
  dropped('weather');
  dropped('weather');
  dropped('another program');
  const metrics = new URL('/metrics', running.gateway.addresses[0]);
  const { text } = await ask(metrics.href, { method: 'GET' });
  expect(text.split('\n').filter((line) => line.startsWith('isthmus_dropped_total'))).toEqual([
    'isthmus_dropped_total{server="weather"} 2',
  ]);
  await running.close({ graceMs: 0 });
  expect(events.dropped.hasSubscribers).toBe(false);
});

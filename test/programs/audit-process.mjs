// Writes records to an audit log: FILE NAME COUNT MAX_BYTES KEEP. With COUNT 0 it does not stop.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { openAuditFile } from '@isthmus/gateway/internal/audit/audit-file.js';
import { systemClock } from '@isthmus/sdk/internal/async/clock.js';

const [file, name, count, maxBytes, keep] = process.argv.slice(2);
const sink = await openAuditFile({
  file,
  maxBytes: Number(maxBytes),
  keep: Number(keep),
  clock: systemClock,
  warn: (message) => process.stderr.write(`${message}\n`),
});
process.stdout.write('ready\n');
for (let at = 0; at < Number(count) || count === '0'; at += 1) {
  sink.write({ correlationId: `${name}-${at}`, tool: 'x'.repeat(50 + (at % 400)), outcome: 'ok' });
  if (at % 20 === 0) await setImmediate();
}
// Closing waits for a bounded time, and a busy machine may need longer.
const last = `"${name}-${Number(count) - 1}"`;
const isThere = () =>
  readdirSync(dirname(file)).some((each) => {
    try {
      return readFileSync(join(dirname(file), each), 'utf8').includes(last);
    } catch {
      return false;
    }
  });
while (!isThere()) await setTimeout(20);
await sink.close();

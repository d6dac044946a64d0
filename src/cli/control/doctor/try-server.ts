import type { Client } from '../../../client/client.js';
import { connect } from '../../../client/connect.js';
import type { Mode } from '../../../client/options.js';
import { type ProbeReport, toReport } from '../../probe/probe-report.js';
import { probeServer } from '../../probe/probe-server.js';
import { connectorOf, type Target } from '../../target.js';
import { oneLine } from '../../terminal/text.js';
import { watchConnector } from '../../watch-connector.js';

export type Tried =
  | { readonly kind: 'answered'; readonly report: ProbeReport; readonly stderr: readonly string[] }
  | { readonly kind: 'failed'; readonly error: unknown; readonly stderr: readonly string[] };

/** Starts a server, or connects to it, asks all that it declares, and ends it again. Never rejects. */
export async function tryServer(
  target: Target,
  mode: Mode,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<Tried> {
  const connector = watchConnector(connectorOf(target, {}));
  const noise = { count: 0, sample: '' };
  let client: Client | undefined;
  try {
    client = await connect(connector, {
      mode,
      signal,
      info: { name: 'isthmus-doctor', version: '0.1.0' },
      reconnect: false,
      cache: false,
      connectTimeoutMs: timeoutMs,
      timeoutMs,
      onNoise(line) {
        noise.count += 1;
        if (noise.count === 1) noise.sample = oneLine(line.error.message);
      },
    });
    connector.stopWatching();
    const session = {
      client,
      connector,
      request: <T>(_what: string, make: (options: { signal: AbortSignal }) => Promise<T>) => make({ signal }),
    };
    const report = toReport(await probeServer(session, noise, new Map()));
    return { kind: 'answered', report, stderr: connector.stderrTail() };
  } catch (error) {
    return { kind: 'failed', error, stderr: connector.stderrTail() };
  } finally {
    await client?.close();
  }
}

import type { Change } from '../exchange/call.js';
import type { Connector } from '../exchange/connection.js';
import { Client } from './client.js';
import { negotiate } from './negotiate.js';
import { type ConnectOptions, resolveConnect } from './options.js';
import { OutputChecks } from './output-checks.js';
import { ResponseCache } from './response-cache.js';
import { Session } from './session.js';

/**
 * Connects to any server, in whichever era it speaks.
 *
 * ```ts
 * await using client = await connect(stdio({ command: 'npx', args: ['-y', 'some-server'] }));
 * console.log(client.verdict.why, await client.listTools());
 * ```
 */
export async function connect(connector: Connector, options: ConnectOptions = {}): Promise<Client> {
  const resolved = resolveConnect(options);
  const cache = new ResponseCache(resolved.clock, resolved.principal);
  const outputs = new OutputChecks();
  const settings = {
    ...resolved,
    onChange(change: Change) {
      cache.changed(change);
      if (change.kind === 'tools') outputs.forget();
    },
    onReopened() {
      cache.clear();
      outputs.forget();
    },
  };
  const link = await negotiate(connector, settings, { signal: options.signal });
  return new Client(new Session(connector, settings, link), cache, outputs);
}

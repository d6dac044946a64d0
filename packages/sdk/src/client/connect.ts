import type { Connector } from '../exchange/connection.js';
import { ownConnection } from './active-connection.js';
import { Client } from './client.js';
import { ClientMemory } from './client-memory.js';
import { type ConnectOptions, resolveConnect } from './options.js';
import { ReconnectingCaller } from './reconnecting-caller.js';

/**
 * Connects to any server, in whichever era it speaks.
 *
 * ```ts
 * await using client = await connect(stdio({ command: 'npx', args: ['-y', 'some-server'] }));
 * console.log(client.verdict.why, await client.listTools());
 * ```
 */
export async function connect(connector: Connector, options: ConnectOptions = {}): Promise<Client> {
  const settings = resolveConnect(options);
  const memory = new ClientMemory(settings.clock, settings.principal);
  const links = ownConnection(connector, { ...settings, onChange: memory.onChange });
  const session = new ReconnectingCaller(links, { ...settings, onReopened: memory.onReopened });
  await session.open(options.signal);
  return new Client(session, memory);
}

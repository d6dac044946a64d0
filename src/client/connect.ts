import type { Connector } from '../exchange/connection.js';
import { Client } from './client.js';
import { ClientMemory } from './client-memory.js';
import { ownConnection } from './link.js';
import { type ConnectOptions, resolveConnect } from './options.js';
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
  const settings = resolveConnect(options);
  const memory = new ClientMemory(settings.clock, settings.principal);
  const links = ownConnection(connector, { ...settings, onChange: memory.onChange });
  const session = new Session(links, { ...settings, onReopened: memory.onReopened });
  await session.open(options.signal);
  return new Client(session, memory);
}

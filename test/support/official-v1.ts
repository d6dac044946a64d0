import { Client, type ClientOptions } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import {
  StreamableHTTPClientTransport,
  type StreamableHTTPClientTransportOptions,
} from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { Connected, PeerAddress, PeerOptions } from './official.js';

export { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
export type { Transport as TransportV1 } from '@modelcontextprotocol/sdk/shared/transport.js';

/** `@modelcontextprotocol/sdk` 1.x, which speaks the legacy era only. `prepare` sets handlers before it connects. */
export async function connectV1(
  address: PeerAddress,
  {
    prepare,
    name = 'official-v1',
    capabilities,
    ...options
  }: PeerOptions<Client, Transport, ClientOptions['capabilities']> = {},
): Promise<Connected<Client, Transport>> {
  const client = new Client({ name, version: '1.0.0' }, capabilities && { capabilities });
  const transport = transportV1(address, options);
  prepare?.(client, transport);
  await client.connect(transport).catch(async (error: unknown) => {
    await client.close();
    throw error;
  });
  const endSession = async () => {
    if (transport instanceof StreamableHTTPClientTransport) await transport.terminateSession();
  };
  return { client, transport, endSession };
}

export function transportV1(
  address: PeerAddress,
  {
    env,
    stderr = 'ignore',
    headers,
    ...http
  }: Omit<PeerOptions<Client, Transport, never>, 'prepare' | 'name' | 'capabilities'> = {},
): Transport {
  if ('command' in address) {
    const { command, args } = address;
    return new StdioClientTransport({
      ...{ command, args: [...args], stderr },
      ...(env && { env: { ...getDefaultEnvironment(), ...env } }),
    });
  }
  const options = { ...http, ...(headers && { requestInit: { headers } }) };
  const url = new URL(address.url);
  // Its types say `sessionId?: string` and mean that it may be undefined.
  return (
    address.transport === 'sse'
      ? new SSEClientTransport(url, options)
      : new StreamableHTTPClientTransport(url, options as StreamableHTTPClientTransportOptions)
  ) as Transport;
}

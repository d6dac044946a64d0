import {
  Client,
  type ClientOptions,
  type OAuthClientProvider,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { Connected, PeerAddress, PeerOptions } from './official.js';

export { Client as ClientV2, type VersionNegotiationMode } from '@modelcontextprotocol/client';

type Transport = Parameters<Client['connect']>[0];

/** The modern era, and nothing else. */
export const MODERN: VersionNegotiationMode = { pin: '2026-07-28' };

interface V2Options extends PeerOptions<Client, Transport, ClientOptions['capabilities']> {
  /** Without one the client has its own default. */
  readonly mode?: VersionNegotiationMode;
}

/** `@modelcontextprotocol/client` 2.x, which speaks both eras. `prepare` sets handlers before it connects. */
export async function connectV2(
  address: PeerAddress,
  { prepare, name = 'official-v2', capabilities, mode, ...options }: V2Options = {},
): Promise<Connected<Client, Transport>> {
  const client = new Client(
    { name, version: '2.0.0' },
    { ...(capabilities && { capabilities }), ...(mode && { versionNegotiation: { mode } }) },
  );
  const transport = transportV2(address, options);
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

export function transportV2(
  address: PeerAddress,
  {
    env,
    stderr = 'ignore',
    headers,
    ...http
  }: Omit<PeerOptions<Client, Transport, never>, 'prepare' | 'name' | 'capabilities'> & {
    readonly authProvider?: OAuthClientProvider;
  } = {},
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
  return address.transport === 'sse'
    ? new SSEClientTransport(url, options)
    : new StreamableHTTPClientTransport(url, options);
}

import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { onTestFinished } from 'vitest';

/** An official client of either era, for as long as the test runs. */
export interface Official {
  /** The text that a tool gives back. */
  call(name: string, args?: Record<string, unknown>): Promise<string>;
  /** `Retry-After` of every answer that had one, with its status. */
  readonly putOff: (readonly [number, string])[];
}

export type Connect = (url: string, headers?: Record<string, string>) => Promise<Official>;

/** Speaks the legacy era. */
export const connectV1: Connect = async (url, headers = {}) => {
  const { putOff, fetch } = watched();
  const client = new ClientV1({ name: 'v1', version: '1' });
  await client.connect(new HttpV1(new URL(url), { requestInit: { headers }, fetch }) as never);
  onTestFinished(() => client.close());
  return {
    putOff,
    call: async (name, args = {}) => textOf(await client.callTool({ name, arguments: args })),
  };
};

/** Speaks the modern era. */
export const connectV2: Connect = async (url, headers = {}) => {
  const { putOff, fetch } = watched();
  const client = new ClientV2(
    { name: 'v2', version: '2' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  await client.connect(new HttpV2(new URL(url), { requestInit: { headers }, fetch }));
  onTestFinished(() => client.close());
  return {
    putOff,
    call: async (name, args = {}) => textOf(await client.callTool({ name, arguments: args })),
  };
};

function watched() {
  const putOff: (readonly [number, string])[] = [];
  const watching = async (url: string | URL, init?: RequestInit): Promise<Response> => {
    const response = await fetch(url, init);
    const after = response.headers.get('retry-after');
    if (after !== null) putOff.push([response.status, after]);
    return response;
  };
  return { putOff, fetch: watching };
}

function textOf(result: unknown): string {
  return (result as { content: { text: string }[] }).content[0]!.text;
}

import { onTestFinished } from 'vitest';
import { connectV1 as connectOfficialV1 } from '../../../../test/support/official-v1.js';
import { connectV2 as connectOfficialV2, MODERN } from '../../../../test/support/official-v2.js';

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
  const { client } = await connectOfficialV1({ url }, { headers, fetch });
  onTestFinished(() => client.close());
  return {
    putOff,
    call: async (name, args = {}) => textOf(await client.callTool({ name, arguments: args })),
  };
};

/** Speaks the modern era. */
export const connectV2: Connect = async (url, headers = {}) => {
  const { putOff, fetch } = watched();
  const { client } = await connectOfficialV2({ url }, { mode: MODERN, headers, fetch });
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

import { connect } from '@isthmus/sdk/client';
import { http } from '@isthmus/sdk/http';
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { keepComplaints } from '../../../../../test/bridge-matrix/clients/session.js';
import { answerTo } from './plan.js';
import { rawLegacy, rawModern } from './raw-clients.js';

/** Somebody in the storm. */
export interface StormClient {
  /** The text that a tool gives back. */
  call(tool: string, args: Record<string, unknown>, signal: AbortSignal): Promise<unknown>;
  /** What it found wrong with what it got, answers that came twice above all. */
  readonly complaints: readonly string[];
  close(): Promise<void>;
}

export type Connect = (url: string) => Promise<StormClient>;

/** Whether it can be asked something; those that are written out by hand cannot. */
export function canAnswer(kind: string): boolean {
  return !kind.startsWith('raw');
}

/** Clients of both eras: ours, the official ones, and two that are written out by hand and see every byte. */
export const KINDS: Readonly<Record<string, Connect>> = {
  'our modern': (url) => ours(url, 'modern'),
  'our legacy': (url) => ours(url, 'legacy'),
  'official v1': officialV1,
  'official v2 modern': (url) => officialV2(url, { pin: '2026-07-28' }),
  'official v2 auto': (url) => officialV2(url, 'auto'),
  'raw modern': rawModern,
  'raw legacy': rawLegacy,
};

async function ours(url: string, mode: 'modern' | 'legacy'): Promise<StormClient> {
  const answers = { elicit: ({ message }: { message: string }) => accepted(message) };
  const client = await connect(http(url), { mode, cache: false, timeoutMs: 20_000, answers });
  return {
    complaints: [],
    call: async (tool, args, signal) => textOf(await client.callTool(tool, args, { signal })),
    close: () => client.close(),
  };
}

async function officialV1(url: string): Promise<StormClient> {
  const client = new ClientV1({ name: 'v1', version: '1' }, { capabilities: CAPABILITIES });
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => accepted(params.message));
  const complaints = keepComplaints(client);
  const transport = new HttpV1(new URL(url), { reconnectionOptions: NO_RECONNECTION });
  await client.connect(transport as never);
  return {
    complaints,
    call: async (name, args, signal) =>
      textOf(await client.callTool({ name, arguments: args }, undefined, { signal, timeout: 20_000 })),
    async close() {
      await transport.terminateSession().catch(() => {});
      await client.close();
    },
  };
}

async function officialV2(url: string, mode: 'auto' | { pin: '2026-07-28' }): Promise<StormClient> {
  const client = new ClientV2(
    { name: 'v2', version: '2' },
    { capabilities: CAPABILITIES, versionNegotiation: { mode } },
  );
  client.setRequestHandler('elicitation/create', ({ params }) => accepted(params.message));
  const complaints = keepComplaints(client);
  const transport = new HttpV2(new URL(url), { reconnectionOptions: NO_RECONNECTION });
  await client.connect(transport);
  return {
    complaints,
    call: async (name, args, signal) =>
      textOf(await client.callTool({ name, arguments: args }, { signal, timeout: 20_000 })),
    async close() {
      await transport.terminateSession().catch(() => {});
      await client.close();
    },
  };
}

const CAPABILITIES = { elicitation: { form: {} } };

function accepted(question: string) {
  return { action: 'accept' as const, content: { name: answerTo(question) } };
}

/** A stream that is gone with its server is not asked for again and again after the storm. */
const NO_RECONNECTION = {
  maxRetries: 0,
  initialReconnectionDelay: 10,
  maxReconnectionDelay: 10,
  reconnectionDelayGrowFactor: 1,
};

export function textOf(result: unknown): unknown {
  const { content, isError } = result as { content?: { text?: string }[]; isError?: boolean };
  if (isError) throw new ToolFailed(String(content?.[0]?.text));
  return content?.[0]?.text;
}

/** The tool itself said that it failed. */
export class ToolFailed extends Error {
  readonly code = 'TOOL_FAILED';
}

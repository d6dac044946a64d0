import { connect } from '@isthmus/sdk/client';
import { http } from '@isthmus/sdk/http';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { textOf } from '../../../packages/gateway/test/support/chaos/clients.js';
import { rawLegacy, rawModern } from '../../../packages/gateway/test/support/chaos/raw-clients.js';
import { keepComplaints } from '../../bridge-matrix/clients/session.js';
import { connectV1 } from '../../support/official-v1.js';
import { connectV2, MODERN } from '../../support/official-v2.js';

export interface StormClient {
  readonly tools: readonly string[];
  /** The text that a tool gives back. */
  call(tool: string, args: Record<string, unknown>): Promise<unknown>;
  readonly complaints: readonly string[];
  close(): Promise<void>;
}

/** Ours, the official ones as people use them, and two that are written out by hand and see every byte. */
export type StormKind =
  | 'our modern'
  | 'our legacy'
  | 'official v1'
  | 'official v2'
  | 'raw modern'
  | 'raw legacy';

export async function connectKind(kind: StormKind, url: string): Promise<StormClient> {
  switch (kind) {
    case 'our modern':
    case 'our legacy':
      return ours(url, kind === 'our modern' ? 'modern' : 'legacy');
    case 'official v1':
      return officialV1(url);
    case 'official v2':
      return officialV2(url);
    default: {
      const raw = await (kind === 'raw modern' ? rawModern : rawLegacy)(url);
      const { signal } = new AbortController();
      return { ...raw, tools: SILENT, call: (tool, args) => raw.call(tool, args, signal) };
    }
  }
}

async function ours(url: string, mode: 'modern' | 'legacy'): Promise<StormClient> {
  const answers = { elicit: ({ message }: { message: string }) => accepted(message) };
  const client = await connect(http(url), { mode, cache: false, timeoutMs: CALL_MS, answers });
  return {
    tools: ALL,
    complaints: [],
    call: async (tool, args) => textOf(await client.callTool(tool, args)),
    close: () => client.close(),
  };
}

async function officialV1(url: string): Promise<StormClient> {
  let complaints: readonly string[] = [];
  const { client } = await connectV1(
    { url },
    {
      capabilities: { elicitation: {} },
      prepare(made) {
        made.setRequestHandler(ElicitRequestSchema, ({ params }) => accepted(params.message));
        complaints = keepComplaints(made);
      },
    },
  );
  return {
    tools: ALL,
    complaints,
    call: async (name, args) =>
      textOf(await client.callTool({ name, arguments: args }, undefined, { timeout: CALL_MS })),
    close: () => client.close(),
  };
}

async function officialV2(url: string): Promise<StormClient> {
  let complaints: readonly string[] = [];
  const { client } = await connectV2(
    { url },
    {
      mode: MODERN,
      capabilities: { elicitation: { form: {} } },
      prepare(made) {
        made.setRequestHandler('elicitation/create', ({ params }) => accepted(params.message));
        complaints = keepComplaints(made);
      },
    },
  );
  return {
    tools: ALL,
    complaints,
    call: async (name, args) =>
      textOf(await client.callTool({ name, arguments: args }, { timeout: CALL_MS })),
    close: () => client.close(),
  };
}

function accepted(question: string) {
  return { action: 'accept' as const, content: { name: `yes, ${question}` } };
}

const ALL = ['run', 'run', 'tell', 'ask', 'ask_again'];
/** Those that are written out by hand cannot be asked, and do not resume streams. */
const SILENT = ['run'];
const CALL_MS = 45_000;

import { connect } from '@isthmus/sdk/client';
import { http } from '@isthmus/sdk/http';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { keepComplaints } from '../../../../../test/bridge-matrix/clients/session.js';
import { NO_RECONNECTION } from '../../../../../test/support/official.js';
import { connectV1 } from '../../../../../test/support/official-v1.js';
import { connectV2, MODERN, type VersionNegotiationMode } from '../../../../../test/support/official-v2.js';
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
  'official v2 modern': (url) => officialV2(url, MODERN),
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
  let complaints: readonly string[] = [];
  const { client, endSession } = await connectV1(
    { url },
    {
      ...{ capabilities: CAPABILITIES, reconnectionOptions: NO_RECONNECTION },
      prepare(made) {
        made.setRequestHandler(ElicitRequestSchema, ({ params }) => accepted(params.message));
        complaints = keepComplaints(made);
      },
    },
  );
  return {
    complaints,
    call: async (name, args, signal) =>
      textOf(await client.callTool({ name, arguments: args }, undefined, { signal, timeout: 20_000 })),
    async close() {
      await endSession().catch(() => {});
      await client.close();
    },
  };
}

async function officialV2(url: string, mode: VersionNegotiationMode): Promise<StormClient> {
  let complaints: readonly string[] = [];
  const { client, endSession } = await connectV2(
    { url },
    {
      ...{ capabilities: CAPABILITIES, reconnectionOptions: NO_RECONNECTION, mode },
      prepare(made) {
        made.setRequestHandler('elicitation/create', ({ params }) => accepted(params.message));
        complaints = keepComplaints(made);
      },
    },
  );
  return {
    complaints,
    call: async (name, args, signal) =>
      textOf(await client.callTool({ name, arguments: args }, { signal, timeout: 20_000 })),
    async close() {
      await endSession().catch(() => {});
      await client.close();
    },
  };
}

const CAPABILITIES = { elicitation: { form: {} } };

function accepted(question: string) {
  return { action: 'accept' as const, content: { name: answerTo(question) } };
}

export function textOf(result: unknown): unknown {
  const { content, isError } = result as { content?: { text?: string }[]; isError?: boolean };
  if (isError) throw new ToolFailed(String(content?.[0]?.text));
  return content?.[0]?.text;
}

/** The tool itself said that it failed. */
export class ToolFailed extends Error {
  readonly code = 'TOOL_FAILED';
}

import { http } from '@isthmus/sdk/http';
import { type Served, serve } from '@isthmus/sdk/server';
import {
  createApplicationInputHandler,
  createTaskSessionFromClient,
  resultFromTaskOutcome,
  toolDeclarationFromMcpTool,
} from '@modelcontextprotocol/ext-tasks/client';
import { CallToolResultSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { createDemoServer } from 'isthmus/internal/demo/demo-server.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectV1 } from '../support/official-v1.js';
import { connectV2, MODERN } from '../support/official-v2.js';

let served: Served;
let url: string;
beforeAll(async () => {
  served = await serve(createDemoServer(), http({ port: 0 }));
  url = served.addresses[0]!;
});
afterAll(() => served.close({ graceMs: 0 }));

const onInputRequest = createApplicationInputHandler({
  elicitation: () => ({ action: 'accept', content: { confirm: true, name: 'Ada' } }),
  sampling: () => {
    throw new Error('not asked');
  },
  roots: () => ({ roots: [] }),
});
const capabilities = { elicitation: { form: {} } };

/** The requests that the official client cannot send yet: its codecs refuse tasks of 2026-07-28. */
async function rawDispatch(request: unknown) {
  const { method, params } = request as { method: string; params: Record<string, unknown> };
  const name = params['taskId'] ?? params['name'];
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': name }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const text = await response.text();
  const message = JSON.parse(text.startsWith('{') ? text : text.slice(text.lastIndexOf('data: ') + 6));
  return message.error
    ? { kind: 'error' as const, error: message.error }
    : { kind: 'result' as const, result: message.result };
}

describe('the official ext-tasks client', () => {
  it('runs tasks of 2026-07-28, answers their questions and reads their errors', async () => {
    const { client } = await connectV2({ url }, { mode: MODERN, capabilities });
    const session = createTaskSessionFromClient(client, {
      endpointId: 'demo',
      onInputRequest,
      rawDispatch,
      v2RequestFraming: {
        protocolVersion: '2026-07-28',
        clientInfo: { name: 'ext-tasks', version: '1' },
        clientCapabilities: capabilities,
      },
    });
    const run = await drive(session);
    // TASK-M-030
    expect(await run('failing_job')).toMatchObject({ isError: true });
    await session.close();
    await client.close();
  });

  it('runs tasks of 2025-11-25, answers their questions and reads their errors', async () => {
    const { client } = await connectV2({ url }, { mode: 'legacy', capabilities });
    const { tools } = await client.listTools();
    const declared = new Map(tools.map((tool) => [tool.name, toolDeclarationFromMcpTool(tool)]));
    const session = createTaskSessionFromClient(client, {
      endpointId: 'demo',
      onInputRequest,
      tools: { currentTool: (name) => declared.get(name) },
    });
    const run = await drive(session);
    // TASK-L-035
    await expect(run('failing_job')).rejects.toThrow('This job always fails');
    await session.close();
    await client.close();
  });
});

async function drive(session: ReturnType<typeof createTaskSessionFromClient>) {
  const run = async (name: string, args: Record<string, string | number> = {}) => {
    const execution = await session.callTool(name, args, { task: { preference: 'prefer' } });
    expect(execution.kind).toBe('task');
    const { outcome } = await execution.settle();
    return resultFromTaskOutcome(outcome) as Record<string, unknown>;
  };
  expect(await run('slow_compute', { seconds: 0.2, label: 'x' })).toMatchObject({
    content: [{ text: 'Computed x in 0.2 s' }],
  });
  expect(await run('confirm_delete', { filename: 'a' })).toMatchObject({ content: [{ text: 'Deleted a' }] });
  expect(await run('multi_input')).toMatchObject({ content: [{ text: 'accept, accept' }] });
  await expect(run('protocol_error_job')).rejects.toThrow('This job ends with a protocol error');
  return run;
}

describe('the official v1 client', () => {
  it('runs tasks with its experimental methods, and answers their questions', async () => {
    const { client } = await connectV1(
      { url },
      {
        capabilities,
        prepare: (each) =>
          each.setRequestHandler(ElicitRequestSchema, () => ({
            action: 'accept',
            content: { confirm: true },
          })),
      },
    );
    await client.listTools();
    const run = async (name: string, args: Record<string, unknown> = {}) => {
      const seen: string[] = [];
      const stream = client.experimental.tasks.callToolStream(
        { name, arguments: args },
        CallToolResultSchema,
        { task: { ttl: 60_000 } },
      );
      let end: unknown;
      for await (const message of stream) {
        seen.push(message.type);
        if (message.type === 'result') end = message.result.content;
        if (message.type === 'error') end = message.error.message;
      }
      return { first: seen[0], last: seen.at(-1), end };
    };
    expect(await run('slow_compute', { seconds: 0.2, label: 'x' })).toMatchObject({
      first: 'taskCreated',
      last: 'result',
      end: [{ text: 'Computed x in 0.2 s' }],
    });
    expect(await run('confirm_delete', { filename: 'a' })).toMatchObject({
      last: 'result',
      end: [{ text: 'Deleted a' }],
    });
    expect(await run('protocol_error_job')).toMatchObject({ first: 'taskCreated', last: 'error' });
    await client.close();
  });
});

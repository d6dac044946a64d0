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
import { type Bridge, startBridge } from '../bridge-matrix/bridge.js';
import { ISTHMUS } from '../support/child.js';
import { connectV1 } from '../support/official-v1.js';
import { connectV2, MODERN } from '../support/official-v2.js';
import { elicitingOnly, modernTaskSession } from './support/ext-tasks.js';

const addresses = { directly: '', 'through isthmus serve': '' };
let served: Served;
let bridge: Bridge;
beforeAll(async () => {
  served = await serve(createDemoServer(), http({ port: 0 }));
  addresses.directly = served.addresses[0]!;
  bridge = await startBridge('http', { command: process.execPath, args: [ISTHMUS, 'demo'] });
  addresses['through isthmus serve'] = (bridge.address as { url: string }).url;
});
afterAll(async () => {
  await bridge?.close();
  await served.close({ graceMs: 0 });
});
const WAYS = ['directly', 'through isthmus serve'] as const;

const answers = elicitingOnly({ action: 'accept', content: { confirm: true, name: 'Ada' } });
const capabilities = { elicitation: { form: {} } };

describe.each(WAYS)('the official ext-tasks client, %s', (way) => {
  it('runs tasks of 2026-07-28, answers their questions and reads their errors', async () => {
    const url = addresses[way];
    const { client } = await connectV2({ url }, { mode: MODERN, capabilities });
    const session = modernTaskSession(client, url, answers);
    const run = await drive(session);
    // TASK-M-030
    expect(await run('failing_job')).toMatchObject({ isError: true });
    await session.close();
    await client.close();
  });

  it('runs tasks of 2025-11-25, answers their questions and reads their errors', async () => {
    const { client } = await connectV2({ url: addresses[way] }, { mode: 'legacy', capabilities });
    const { tools } = await client.listTools();
    const declared = new Map(tools.map((tool) => [tool.name, toolDeclarationFromMcpTool(tool)]));
    const session = createTaskSessionFromClient(client, {
      endpointId: 'demo',
      onInputRequest: createApplicationInputHandler(answers),
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

describe.each(WAYS)('the official v1 client, %s', (way) => {
  it('runs tasks with its experimental methods, and answers their questions', async () => {
    const { client } = await connectV1(
      { url: addresses[way] },
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

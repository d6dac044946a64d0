/** The official everything server, whose task of 2025-11-25 asks a question, behind `isthmus serve`. */
import { connect, http } from '@isthmus/sdk';
import { resultFromTaskOutcome } from '@modelcontextprotocol/ext-tasks/client';
import { CallToolResultSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { EVERYTHING } from '../../packages/cli/test/support/isthmus.js';
import { type Bridge, startBridge } from '../bridge-matrix/bridge.js';
import { connectV1 } from '../support/official-v1.js';
import { connectV2, MODERN } from '../support/official-v2.js';
import { elicitingOnly, modernTaskSession } from './support/ext-tasks.js';

let bridge: Bridge;
let url: string;
beforeAll(async () => {
  bridge = await startBridge('http', { command: process.execPath, args: [EVERYTHING, 'stdio'] });
  url = (bridge.address as { url: string }).url;
});
afterAll(async () => {
  await bridge?.close();
});

const NAME = 'simulate-research-query';
const ARGS = { topic: 'python', ambiguous: true };
const ANSWER = { action: 'accept' as const, content: { interpretation: 'snake' } };
const REPORT = /^# Research Report: python \(snake\)/;

it('asks a modern client of ours in its task, takes the answer, and ends with the report', async () => {
  const asked: string[] = [];
  const client = await connect(http(url), {
    mode: 'modern',
    answers: {
      elicit: ({ message }) => {
        asked.push(message);
        return ANSWER;
      },
    },
  });
  const task = await client.startTask(NAME, ARGS);
  expect(await task.get()).toMatchObject({ id: task.id, status: 'working' });
  const { content } = await task.result();
  expect(content).toEqual([{ type: 'text', text: expect.stringMatching(REPORT) }]);
  expect(asked).toEqual([expect.stringContaining('"python" could have multiple interpretations')]);
  expect(await task.get()).toMatchObject({ id: task.id, status: 'completed' });
  await client.close();
});

it('asks in rounds of the poll, so that any modern client can answer with tasks/update', async () => {
  const { client } = await connectV2({ url }, { mode: MODERN, capabilities: { elicitation: { form: {} } } });
  const session = modernTaskSession(client, url, elicitingOnly(ANSWER));
  const execution = await session.callTool(NAME, ARGS, { task: { preference: 'prefer' } });
  expect(execution.kind).toBe('task');
  const { outcome } = await execution.settle();
  expect(resultFromTaskOutcome(outcome)).toMatchObject({
    content: [{ type: 'text', text: expect.stringMatching(REPORT) }],
  });
  await session.close();
  await client.close();
});

it('asks the official v1 client, with the id of the task of the bridge', async () => {
  const related: unknown[] = [];
  const { client } = await connectV1(
    { url },
    {
      capabilities: { elicitation: { form: {} } },
      prepare: (each) =>
        each.setRequestHandler(ElicitRequestSchema, ({ params }) => {
          related.push(params._meta?.['io.modelcontextprotocol/related-task']);
          return ANSWER;
        }),
    },
  );
  await client.listTools();
  const stream = client.experimental.tasks.callToolStream(
    { name: NAME, arguments: ARGS },
    CallToolResultSchema,
    {
      task: { ttl: 60_000 },
    },
  );
  const seen: { type: string; taskId?: string; text?: unknown }[] = [];
  for await (const message of stream) {
    if (message.type === 'taskCreated') seen.push({ type: message.type, taskId: message.task.taskId });
    if (message.type === 'result') seen.push({ type: message.type, text: message.result.content });
    if (message.type === 'error') seen.push({ type: message.type, text: message.error.message });
  }
  expect(seen).toEqual([
    { type: 'taskCreated', taskId: expect.any(String) },
    { type: 'result', text: [{ type: 'text', text: expect.stringMatching(REPORT) }] },
  ]);
  expect(related).toEqual([{ taskId: seen[0]!.taskId }]);
  await client.close();
});

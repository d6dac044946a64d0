import { setTimeout as sleep } from 'node:timers/promises';
import { createServer } from '@isthmus/sdk/internal/server/create-server.js';
import { jsonSchema } from '@isthmus/sdk/internal/server/schema.js';
import type { Server } from '@isthmus/sdk/internal/server/server.js';
import type { TaskStore } from '@isthmus/sdk/internal/server/tasks/store.js';
import { addConformanceFixture } from './conformance-fixture.js';
import { READS } from './fixture-data.js';

/** The server for tests, benchmarks and first steps. */
export function createDemoServer(taskStore?: TaskStore): Server {
  const server = createServer({
    name: 'isthmus-demo',
    version: '1.0.0',
    title: 'Isthmus demo',
    instructions: 'A server to try things on. Start with the tool echo.',
    ...(taskStore && { tasks: { store: taskStore } }),
  });
  addDemoTools(server);
  server.resource(
    'demo://clock',
    { name: 'clock', description: 'The time of day, new at every read', mimeType: 'text/plain' },
    () => new Date().toISOString(),
  );
  addConformanceFixture(server);
  return server;
}

function addDemoTools(server: Server): void {
  server.tool(
    'echo',
    {
      description: 'Gives back the text it got',
      input: jsonSchema<{ text: string }>({
        type: 'object',
        properties: { text: { type: 'string', description: 'What to give back' } },
        required: ['text'],
      }),
      annotations: { readOnlyHint: true, idempotentHint: true },
    },
    ({ text }) => text,
  );
  server.tool(
    'add',
    {
      description: 'Adds two numbers',
      input: jsonSchema<{ a: number; b: number }>({
        type: 'object',
        properties: {
          a: { type: 'number', description: 'The first number' },
          b: { type: 'number', description: 'The second number' },
        },
        required: ['a', 'b'],
      }),
      output: jsonSchema<{ sum: number }>({
        type: 'object',
        properties: { sum: { type: 'number' } },
        required: ['sum'],
      }),
      annotations: { readOnlyHint: true, idempotentHint: true },
    },
    ({ a, b }) => ({ sum: a + b }),
  );
  server.tool(
    'sleep',
    {
      description: 'Waits, reports progress every 100 ms, and stops when cancelled',
      input: jsonSchema<{ ms: number }>({
        type: 'object',
        properties: {
          ms: { type: 'integer', minimum: 0, maximum: 3_600_000, description: 'How long, in milliseconds' },
        },
        required: ['ms'],
      }),
      annotations: READS,
    },
    async ({ ms }, ctx) => {
      for (let slept = 0; slept < ms; slept += 100) {
        ctx.progress(slept, ms);
        await sleep(Math.min(100, ms - slept), undefined, { signal: ctx.signal });
      }
      ctx.progress(ms, ms);
      return `slept ${ms} ms`;
    },
  );
  server.tool(
    'big',
    {
      description: 'Gives back that many characters',
      input: jsonSchema<{ bytes: number }>({
        type: 'object',
        properties: {
          bytes: { type: 'integer', minimum: 0, maximum: 100_000_000, description: 'How many characters' },
        },
        required: ['bytes'],
      }),
      annotations: { readOnlyHint: true, idempotentHint: true },
    },
    ({ bytes }) => 'x'.repeat(bytes),
  );
  server.tool(
    'crash',
    { description: 'Ends the process with exit code 1, at once', annotations: { destructiveHint: true } },
    () => process.exit(1),
  );
  server.tool('touch', { description: 'Makes the tool list and demo://clock change' }, () => {
    server.tool('touched', { description: 'Here and gone' }, () => 'never').remove();
    server.resourceUpdated('demo://clock');
    return 'touched';
  });
}

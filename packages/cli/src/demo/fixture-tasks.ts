import { setTimeout as sleep } from 'node:timers/promises';
import { ProtocolError } from '@isthmus/sdk/internal/errors.js';
import { jsonSchema } from '@isthmus/sdk/internal/server/schema.js';
import type { Server } from '@isthmus/sdk/internal/server/server.js';
import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';
import type { ElicitFormParams } from '@isthmus/sdk/internal/wire/model.js';
import { READS } from './fixture-data.js';

/** Tools that run as tasks, with the names and the behaviour that the official scenarios for tasks need. */
export function addTaskTools(server: Server): void {
  server.tool(
    'greet',
    { annotations: READS, description: 'Greets, at once', input: textInput('name', 'Whom to greet') },
    ({ name }) => `Hello, ${name}!`,
  );
  server.tool(
    'slow_compute',
    {
      annotations: READS,
      description: 'Computes for some seconds, as a task if the client takes tasks',
      input: jsonSchema<{ seconds?: number; label?: string }>({
        type: 'object',
        properties: {
          seconds: { type: 'number', minimum: 0, maximum: 3600, description: 'How long' },
          label: { type: 'string', description: 'A name for the result' },
        },
      }),
      task: { mode: 'allowed', pollIntervalMs: 500 },
    },
    async ({ seconds = 0, label = 'it' }, ctx) => {
      for (let done = 0; done < seconds; done += 1) {
        ctx.progress(done, seconds, `computing ${label}`);
        await sleep(Math.min(1, seconds - done) * 1000, undefined, { signal: ctx.signal });
      }
      return `Computed ${label} in ${seconds} s`;
    },
  );
  server.tool(
    'failing_job',
    { annotations: READS, description: 'Reports an error; runs only as a task', task: 'required' },
    () => {
      throw new Error('This job always fails');
    },
  );
  server.tool(
    'protocol_error_job',
    { annotations: READS, description: 'A task that ends with a protocol error', task: 'required' },
    () => {
      throw new ProtocolError(ErrorCode.InternalError, 'This job ends with a protocol error');
    },
  );
  addAskingTasks(server);
}

function addAskingTasks(server: Server): void {
  server.tool(
    'confirm_delete',
    {
      annotations: READS,
      description: 'Asks before it deletes; nothing is deleted',
      input: textInput('filename', 'What to delete'),
      task: { mode: 'allowed', pollIntervalMs: 500 },
    },
    async ({ filename }, ctx) => {
      const { action } = await ctx.elicit(confirmation(`Delete ${filename}?`));
      return action === 'accept' ? `Deleted ${filename}` : `Kept ${filename}`;
    },
  );
  server.tool(
    'multi_input',
    {
      annotations: READS,
      description: 'Asks two questions at once',
      task: { mode: 'allowed', pollIntervalMs: 500 },
    },
    async (_args, ctx) => {
      const answers = await Promise.all([
        ctx.elicit(confirmation('The first question')),
        ctx.elicit(confirmation('The second question')),
      ]);
      return answers.map(({ action }) => action).join(', ');
    },
  );
  server.tool(
    'test_tool_with_task',
    {
      annotations: READS,
      description: 'Asks for a name first, and then works as a task',
      task: { mode: 'required', start: 'handler' },
    },
    async (_args, ctx) => {
      const { content } = await ctx.elicit(confirmation('Who are you?'));
      await ctx.startTask();
      return `Worked for ${String(content?.['name'] ?? 'a stranger')}`;
    },
  );
}

function confirmation(message: string): ElicitFormParams {
  return {
    mode: 'form',
    message,
    requestedSchema: {
      type: 'object',
      properties: {
        name: { type: 'string', description: 'A name' },
        confirm: { type: 'boolean', description: 'Whether to go on' },
      },
    },
  };
}

function textInput<K extends string>(name: K, description: string) {
  return jsonSchema<Record<K, string>>({
    type: 'object',
    properties: { [name]: { type: 'string', description } },
    required: [name],
  });
}

import { setTimeout as sleep } from 'node:timers/promises';
import { type HttpRequestFacts, http, type Refusal } from '@isthmus/sdk/http';
import { createServer } from '@isthmus/sdk/internal/server/create-server.js';
import { serve } from '@isthmus/sdk/internal/server/serve.js';
import type { Server } from '@isthmus/sdk/internal/server/server.js';
import { httpTarget } from '../../../src/index.js';
import type { HttpBase } from './mutant.js';

/** A server whose tools run as tasks, in both eras: one that ends, one that takes a while, one that asks, one that fails. */
export function createTaskServer(): Server {
  const server = createServer({ name: 'tasks', version: '1.0.0', tasks: { pollIntervalMs: 10 } });
  const annotations = { readOnlyHint: true };
  server.tool('slow', { annotations, task: 'allowed', description: 'Takes a while' }, async (_args, ctx) => {
    ctx.progress(1, 2);
    await sleep(SLOW_MS, undefined, { signal: ctx.signal });
    return 'done';
  });
  server.tool('quick', { annotations, task: 'allowed', description: 'Ends at once' }, () => 'done');
  server.tool('ask', { annotations, task: 'allowed', description: 'Asks twice' }, async (_args, ctx) => {
    for (const message of ['Really?', 'Really, really?']) {
      await ctx.elicit({
        message,
        requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } } },
      });
    }
    return 'asked';
  });
  server.tool('broken', { annotations, task: 'allowed', description: 'Reports an error' }, () => ({
    isError: true,
    content: [{ type: 'text' as const, text: 'It does not work' }],
  }));
  server.tool('only', { annotations, task: 'required', description: 'Runs as a task only' }, () => 'done');
  server.tool('plain', { annotations, description: 'Never runs as a task' }, () => 'done');
  return server;
}

const SLOW_MS = 150;

/** At a URL. With `users`: the token is the name of the user. */
export function tasksAt({ users = false } = {}): HttpBase {
  return async () => {
    const served = await serve(
      createTaskServer(),
      http({
        port: 0,
        ...(users && {
          authenticate: (request: HttpRequestFacts): string | Refusal =>
            /^Bearer (\w+)$/.exec(request.header('authorization') ?? '')?.[1] ?? { status: 401 },
        }),
      }),
    );
    return { target: httpTarget(served.addresses[0]!), close: () => served.close({ graceMs: 0 }) };
  };
}

export const USERS = { given: { good: 'ann', other: 'bob' } };

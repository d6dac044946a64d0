import { setImmediate as turn } from 'node:timers/promises';
import { createServer, jsonSchema, type Server } from '../../src/index.js';

/**
 * The server that every transcript talks to. Small, fixed, and the same for both eras:
 *
 * - tool `echo` gives its `text` back; `fail` throws; `hold` runs until it is cancelled
 * - tool `work` reports progress 1, 1 (again), 2 of 2 and logs one line of level info
 * - tool `ask` asks the user for a name and greets it; `model` asks the client's model; `where` asks for roots
 * - tool `touch` announces new content of `note:///a`, `grow` changes the list of tools
 * - resource `note:///a`, template `note:///{id}`, prompt `greet` with one argument
 */
export function createTranscriptServer(): Server {
  const server = createServer({ name: 'transcript', version: '1.0.0' });
  const text = jsonSchema<{ text: string }>({
    type: 'object',
    properties: { text: { type: 'string' } },
    required: ['text'],
  });
  server.tool('echo', { input: text }, (args) => args.text);
  server.tool('fail', {}, () => {
    throw new Error('it broke');
  });
  server.tool(
    'hold',
    {},
    (_args, ctx) =>
      new Promise((_resolve, reject) => {
        ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason));
      }),
  );
  server.tool('work', {}, (_args, ctx) => {
    ctx.progress(1, 2, 'half');
    ctx.progress(1, 2, 'half, again');
    ctx.log('info', 'working', 'transcript');
    ctx.progress(2, 2, 'all');
    return 'worked';
  });
  server.tool('ask', {}, async (_args, ctx) => {
    const answer = await ctx.elicit({ message: 'Your name?', requestedSchema: NAME_FORM });
    return answer.action === 'accept' ? `Hello ${String(answer.content?.['name'])}` : answer.action;
  });
  server.tool('model', {}, async (_args, ctx) => {
    const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: 'Hi' } }];
    return (await ctx.sample({ messages, maxTokens: 10 })).model;
  });
  server.tool('where', {}, async (_args, ctx) => (await ctx.roots()).map((root) => root.uri).join(' '));
  server.tool('touch', {}, async () => {
    server.resourceUpdated('note:///a');
    await turn();
    return 'touched';
  });
  server.tool('grow', {}, async () => {
    server.tool('extra', {}, () => 'extra').remove();
    await turn();
    return 'grown';
  });
  server.resource('note:///a', { name: 'a', mimeType: 'text/plain' }, () => 'alpha');
  server.resourceTemplate('note:///{id}', { name: 'notes' }, ({ id }) => `note ${String(id)}`);
  server.prompt(
    'greet',
    { arguments: { name: { required: true, complete: () => ['Ada', 'Grace'] } } },
    ({ name }) => `Greet ${name}`,
  );
  return server;
}

const NAME_FORM = {
  type: 'object' as const,
  properties: { name: { type: 'string' as const } },
  required: ['name'],
};

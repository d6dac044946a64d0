// A tool that takes long runs as a task. One definition serves the tasks of both eras: the client gets an id, leaves, and
// another client waits for the result. The tool asks a question meanwhile.
import assert from 'node:assert/strict';
import { connect, createServer, memory, serve } from 'isthmus';

const server = createServer({ name: 'reports', version: '1.0.0', tasks: { pollIntervalMs: 20 } });
server.tool('report', { description: 'Writes a report', task: 'allowed' }, async (_args, ctx) => {
  ctx.progress(1, 2, 'reading');
  const { action } = await ctx.elicit({
    message: 'Include drafts?',
    requestedSchema: { type: 'object', properties: { drafts: { type: 'boolean' } } },
  });
  ctx.progress(2, 2, 'writing');
  return `The report is written (${action})`;
});
const link = memory();
const served = await serve(server, link);

for (const mode of ['modern', 'legacy']) {
  const answers = { elicit: async () => ({ action: 'accept' as const, content: { drafts: true } }) };
  const first = await connect(link, { mode, answers: { elicit: () => new Promise<never>(() => {}) } });
  const { id } = await first.startTask('report');
  assert(id !== undefined);
  await first.close();

  const second = await connect(link, { mode, answers });
  const task = second.task(id);
  const { content } = await task.result();
  const { status } = await task.get();
  console.log(`${mode}: ${status}, ${JSON.stringify(content)}`);
  assert.deepEqual(content, [{ type: 'text', text: 'The report is written (accept)' }]);

  // Without a handle the call waits by itself.
  const { content: waited } = await second.callTool('report');
  assert.deepEqual(waited, content);
  await second.close();
}
await served.close();

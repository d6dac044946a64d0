// Its vice: it keeps many servers and never says goodbye to them. It is told what to do line by line, and answers
// each with a line of JSON. With a folder it has a ledger there.
//   start NAME   starts a server: its pid, or the code, the cause and the sentence of the failure
//   call NAME    calls its tool `echo`: the answer, or the failure as above
//   reaped       which leftovers of an earlier host it has ended
//   exit, throw  ends the program, one way or the other
// node host-of-many-servers.mjs [FOLDER]
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createHost } from '@isthmus/sdk/host';

const program = (name) => fileURLToPath(new URL(name, import.meta.url));
const node = process.execPath;
const host = createHost({
  cache: false,
  ledger: process.argv[2] ?? false,
  servers: {
    good: { command: node, args: [program('server-echoes-in-step.mjs')] },
    stubborn: { command: node, args: [program('server-ignores-sigterm.mjs')] },
    shell: { command: 'sh', args: ['-c', `"${node}" "${program('server-ignores-sigterm.mjs')}"; true`] },
    grandchild: { command: node, args: [program('server-leaves-grandchild.mjs'), 'ignore'] },
    silent: {
      command: 'sh',
      args: ['-c', `"${node}" "${program('child-that-ignores-sigterm.mjs')}" >/dev/null; true`],
      connectTimeoutMs: 300,
      bootMs: 100,
      silenceMs: 100,
      shutdown: { closeMs: 100, termMs: 100, killMs: 2000 },
    },
  },
});
const reaped = [];
host.watch((event) => {
  if (event.kind === 'reaped') reaped.push({ pid: event.pid, gone: event.gone });
});
const conversations = new Map();

const commands = {
  async start(name) {
    await host.start(name);
    return { pid: (await host.status()).servers[name].processes[0].pid };
  },
  async call(name) {
    if (!conversations.has(name)) conversations.set(name, host.conversation(name));
    const { content } = await conversations.get(name).callTool('echo', { text: 'hello' });
    return { text: content[0].text };
  },
  reaped: () => reaped,
  exit: () => process.exit(7),
  throw: () =>
    setImmediate(() => {
      throw new Error('nobody catches this');
    }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const [command, name] = line.split(' ');
  const answer = await Promise.resolve(commands[command](name)).catch(({ code, cause, message }) => ({
    code,
    cause: cause?.code,
    message,
  }));
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await host.close();

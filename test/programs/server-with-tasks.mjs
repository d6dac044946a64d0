// A server whose tasks are in a store that outlives it: server-with-tasks.mjs redis|sqlite PLACE SOCKET|http:PORT RUNS
// Over HTTP the token is the principal.
// Each run of a tool is one line of the file RUNS. Ends only when it is killed.
import { appendFileSync } from 'node:fs';
import { createServer, http, serve, unixSocket } from '@isthmus/sdk';

const [kind, place, socket, runs] = process.argv.slice(2);
const store =
  kind === 'redis'
    ? await (await import('@isthmus/sdk/tasks/redis')).redisTaskStore({ url: place })
    : await (await import('@isthmus/sdk/tasks/sqlite')).sqliteTaskStore({ file: place });
const server = createServer({
  name: 'tasks',
  version: '1.0.0',
  tasks: { store, leaseMs: 1000, pollIntervalMs: 20, maxRunning: 1000, maxRunningPerClient: 1000 },
});
const tool = (name, work) =>
  server.tool(name, { task: 'required' }, (args) => {
    appendFileSync(runs, `${args.key}\n`);
    return work(args);
  });
tool('quick', ({ key }) => `done ${key}`);
tool('endless', () => new Promise(() => {}));
tool('soon', ({ key, ms }) => new Promise((resolve) => setTimeout(() => resolve(`done ${key}`), ms)));
setInterval(() => {}, 1 << 30);
const port = /^http:(\d+)$/.exec(socket)?.[1];
const authenticate = (request) => {
  const principal = request.header('authorization')?.replace(/^Bearer /, '');
  return principal ? { principal } : undefined;
};
await serve(server, port ? http({ port: Number(port), authenticate }) : unixSocket(socket));
process.stderr.write('ready\n');

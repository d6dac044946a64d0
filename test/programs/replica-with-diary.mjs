// A replica of a cluster whose tools write each token that they were given into a diary, in one write that others cannot
// interrupt. So even a process that is killed leaves a true account of what it ran.
// node replica-with-diary.mjs PORT DIARY, with REDIS_URL and CLUSTER_SECRET, and TRACE for all HTTP messages. SIGTERM
// drains it.
import './trace-http.mjs';
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer, inputRequired, jsonSchema, serve } from '@isthmus/sdk';
import { joinCluster } from '@isthmus/sdk/cluster';
import { http } from '@isthmus/sdk/http';

const [port, diary] = process.argv.slice(2);
const { REDIS_URL: url, CLUSTER_SECRET: secret } = process.env;
const note = (token) => appendFileSync(diary, `${token}\n`);
const input = jsonSchema({ type: 'object', properties: { token: { type: 'string' } }, required: ['token'] });
const form = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };

const server = createServer({ name: 'replica', version: '1' });
server.tool('run', { input }, async ({ token, ms = 0 }) => {
  note(token);
  if (ms > 0) await sleep(ms);
  return token;
});
// Its answer is a stream.
server.tool('tell', { input }, async ({ token, ms = 0 }, ctx) => {
  note(token);
  for (let step = 1; step <= 3; step += 1) {
    ctx.log('info', `${token} ${step}`);
    await sleep(ms);
  }
  return token;
});
// The handler waits for the answer.
server.tool('ask', { input }, async ({ token }, ctx) => {
  const { content } = await ctx.elicit({ message: token, requestedSchema: form });
  note(token);
  return `${token}: ${content?.name}`;
});
// The handler is run again with the answer.
server.tool('ask_again', { input }, ({ token }, ctx) => {
  const answer = ctx.answers?.name;
  const params = { mode: 'form', message: token, requestedSchema: form };
  if (!answer) return inputRequired({ requests: { name: { method: 'elicitation/create', params } } });
  note(token);
  return `${token}: ${answer.content?.name}`;
});

const cluster = await joinCluster({ url, secret, listen: 'http://127.0.0.1:0' });
const served = await serve(server, http({ port: Number(port) }), { cluster });
const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
say({ url: served.addresses[0] });
const sayMembers = () => say({ members: cluster.members.all.length });
cluster.members.onChange(sayMembers);
sayMembers();

process.once('SIGTERM', async () => {
  await cluster.drain();
  await sleep(200);
  await served.close({ graceMs: 5000 });
  await cluster.leave();
});

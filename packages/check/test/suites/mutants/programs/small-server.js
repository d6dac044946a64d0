/** A server of both eras in a few lines, with the fault that its argument names; `none` is sound. */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [fault = 'none', folder = ''] = process.argv.slice(2);
const has = (name) => fault === name;

const info = { name: 'small', version: '1.0.0' };
const capabilities = { tools: { listChanged: true } };
const tools = [
  {
    name: 'echo',
    description: 'Gives back its text',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    annotations: { readOnlyHint: true },
  },
  {
    name: 'sleep',
    description: 'Takes its time',
    inputSchema: { type: 'object', properties: { ms: { type: 'integer' } } },
    annotations: { readOnlyHint: true },
  },
];

const held = [];
const send = (message) => {
  const text = `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;
  // Much of each, so that a few are enough; and not so much that the machine suffers.
  if (has('hoards') && held.length < 40) held.push(Buffer.alloc(32 * text.length, 1));
  process.stdout.write(text);
};

const keepAlive = () => setInterval(() => {}, 60_000);

/** Calls under way are answered when the input ends, and do not keep the process. */
const sleeping = new Set();

const handlers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities, serverInfo: info }),
  ping: () => ({}),
  'server/discover': () => ({
    supportedVersions: ['2026-07-28'],
    capabilities,
    ttlMs: 0,
    cacheScope: 'public',
  }),
  'tools/list': () => ({ tools, ttlMs: 0, cacheScope: 'public' }),
  async 'tools/call'({ name, arguments: args }) {
    if (has('dies-of-echo') && name === 'echo') process.exit(1);
    if (name === 'echo') return { content: [{ type: 'text', text: String(args?.text) }] };
    if (has('waits-for-calls')) keepAlive();
    return new Promise((resolve) => {
      const answer = () => resolve({ content: [] });
      sleeping.add(answer);
      setTimeout(answer, Number(args?.ms ?? 0)).unref();
    });
  },
};

async function handle({ id, method, params = {} }) {
  if (id === undefined) return;
  if (method === 'subscriptions/listen') {
    if (has('waits-for-listeners')) keepAlive();
    const _meta = { 'io.modelcontextprotocol/subscriptionId': id };
    send({
      method: 'notifications/subscriptions/acknowledged',
      params: { _meta, notifications: params.notifications },
    });
    return;
  }
  const handler = handlers[method];
  if (has('list-fails') && method === 'tools/list')
    return send({ id, error: { code: -32603, message: 'The list is broken' } });
  if (has('list-hangs') && method === 'tools/list') return;
  if (!handler && has('error-ids'))
    return send({ id: null, error: { code: -32601, message: 'Method not found' } });
  if (!handler) return send({ id, error: { code: -32601, message: 'Method not found' } });
  const result = await handler(params);
  const isModern = params._meta?.['io.modelcontextprotocol/protocolVersion'] !== undefined;
  const meta = { resultType: 'complete', _meta: { 'io.modelcontextprotocol/serverInfo': info } };
  send({ id, result: isModern ? { ...result, ...meta } : result });
}

function listen() {
  let rest = '';
  if (!has('decodes-chunks')) process.stdin.setEncoding('utf8');
  process.stdin.on('data', (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      let message;
      try {
        message = JSON.parse(line);
      } catch {
        send({ error: { code: -32700, message: 'Parse error' } });
        continue;
      }
      if (has('ends-when-used') && message.method === 'initialize') setTimeout(() => process.exit(0), 150);
      if (has('ends-when-used') && message.method === 'server/discover')
        setTimeout(() => process.exit(0), 150);
      void handle(message);
    }
  });
  process.stdin.on('end', () => {
    if (has('crashes-at-rest') && rest !== '') process.exit(1);
    if (has('farewell')) console.log('Goodbye!');
    if (has('exit-code')) process.exitCode = 3;
    for (const file of own) rmSync(file, { force: true });
    for (const answer of sleeping) answer();
  });
}

const own = [];
/** Leaves a file as long as it runs; ends when somebody else's is there, or one of the dead. */
function lock(isInTheWay) {
  const others = readdirSync(folder);
  if (others.some((name) => isInTheWay(Number(name)))) {
    console.error('another instance is running');
    process.exit(1);
  }
  own.push(join(folder, String(process.pid)));
  writeFileSync(own[0], '');
}

if (has('ignores-end') || has('ignores-sigterm') || has('ignores-sigint')) {
  if (has('ignores-end')) keepAlive();
  if (has('ignores-sigterm')) process.on('SIGTERM', () => {});
  if (has('ignores-sigint')) process.on('SIGINT', () => {});
}
if (has('ignores-end-unused')) {
  const timer = keepAlive();
  process.stdin.once('data', () => clearInterval(timer));
}
if (has('ignores-broken-pipe')) {
  process.stdout.on('error', keepAlive);
}
if (has('orphans')) {
  spawn(process.execPath, ['-e', 'process.on("SIGTERM", () => {}); setTimeout(() => {}, 20000)'], {
    stdio: 'ignore',
    detached: true,
  }).unref();
}
if (has('stale-lock')) lock((pid) => !existsSync(`/proc/${pid}`));
// Of many at once only some are let in: the referee itself needs a few.
if (has('single')) lock(() => readdirSync(folder).length >= 2);
if (has('banner')) console.log(`small server ${process.pid} is ready`);
if (has('late')) setTimeout(listen, 1800);
else listen();

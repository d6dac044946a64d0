// npm run soak -- --attacks: a gateway with one server for all is attacked by a client at one address, and a client at
// another address goes on calling. Fails when the second one waits (p99) or the gateway grows beyond the goals.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { Agent, request } from 'undici';
import { SetupError } from './setup/main.js';
import { inRoot } from './setup/paths.js';

const GOAL_P99_MS = 250;
const GOAL_RSS_MB = 300;
/** How often the second client calls. */
const EVERY_MS = 20;
const PHASE_MS = 10_000;
const MODERN = '2026-07-28';

/**
 * Whether every goal was reached. Each attack meets a fresh gateway, so that each has its own figures. `only` names
 * the attacks by their ids; without it all of them are made.
 */
export async function soakAttacks(only) {
  const known = ATTACKS.map(([id]) => id);
  const unknown = only?.find((id) => !known.includes(id));
  if (unknown !== undefined)
    throw new SetupError(`--only names attacks: ${known.join(', ')}; not ${unknown}`);
  const attacks = only ? ATTACKS.filter(([id]) => only.includes(id)) : ATTACKS;
  const pages = await pageServer();
  const failures = [];
  console.log(
    'attack                                                          calls  p50 ms  p99 ms  max ms  failed  RSS MB',
  );
  for (const [id, what] of [['–', 'no attack'], ...attacks]) {
    const seen = await meet(pages.url, id);
    const row = [`${id} ${what}`.padEnd(60), String(seen.calls).padStart(9)];
    for (const ms of [seen.p50, seen.p99, seen.max]) row.push(ms.toFixed(1).padStart(8));
    console.log(row.join(''), String(seen.failed).padStart(6), String(Math.round(seen.rssMb)).padStart(7));
    if (seen.failed > 0) failures.push(`${id}: ${seen.failed} calls failed (${seen.why})`);
    if (seen.p99 > GOAL_P99_MS) failures.push(`${id}: p99 ${seen.p99.toFixed(0)} ms`);
    if (seen.rssMb > GOAL_RSS_MB) failures.push(`${id}: ${seen.rssMb.toFixed(0)} MB`);
  }
  pages.close();
  console.log(failures.length === 0 ? 'held' : `NOT HELD: ${failures.join('; ')}`);
  return failures.length === 0;
}

async function meet(pages, id) {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-attacks-'));
  const gateway = await start(folder, pages);
  const victim = clientAt('127.0.0.3', gateway.url);
  try {
    const session = await victim.open('/mcp/shared');
    // Warm, as a gateway is that has been used for a while.
    for (let count = 0; count < 500; count += 1) await victim.call('/mcp/shared', 'echo', { text: 'warm' });
    return await measure(gateway.pid, victim, session, () => attacked(id, gateway.url));
  } finally {
    await victim.close();
    gateway.child.kill('SIGTERM');
    await once(gateway.child, 'exit');
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * The attacker has a thread of its own: what its client does with 1,100 connections or with 30 MB would hold up the
 * calls of the other one here, and count as if the gateway had.
 */
async function attacked(id, url) {
  const thread = new Worker(new URL(import.meta.url), { workerData: { attack: id, url } });
  // The phase is over, whatever is left of the attack.
  const end = setTimeout(() => thread.terminate(), PHASE_MS + 1000);
  await once(thread, 'exit');
  clearTimeout(end);
}

/** By the ids of what was found from outside. Each is given up when its phase is over. */
const ATTACKS = [
  [
    'S1',
    'an upstream answers with 1 MiB of "<"',
    ({ call, until }) => until(() => call('/mcp/pages', 'echo', {})),
  ],
  [
    'S6',
    '40 answers of 30 MB in a session that keeps events',
    async ({ open, callIn }) => {
      const session = await open('/mcp/bulky');
      for (let left = 40; left > 0; left -= 1) await callIn('/mcp/bulky', session, 'big', {});
    },
  ],
  [
    'S7',
    '1,500 sessions opened, and 1,100 calls that never end',
    async ({ open, call, many }) => {
      await many(1500, () => open('/mcp/shared'));
      await many(1100, () => call('/mcp/shared', 'slow', {}));
    },
  ],
  [
    'S9',
    'a tool with a hostile output schema',
    ({ call, until }) => until(() => call('/mcp/shared', 'trap', {})),
  ],
  [
    'R1',
    '600 questions that are not answered',
    ({ call, many }) => many(600, () => call('/mcp/shared', 'ask', {})),
  ],
  [
    'R3',
    'calls of 2 MB to a server that does not read, abandoned',
    ({ call, many }) =>
      many(300, () => call('/mcp/deaf', 'echo', { text: 'x'.repeat(2 * 1024 * 1024) }, 500)),
  ],
  ['R4', '1,500 sessions abandoned', ({ open, many }) => many(1500, () => open('/mcp/shared'))],
];

/** Calls of the second client, one every 20 ms whether or not the last one was answered, while `attack` goes on. */
async function measure(pid, victim, session, attack) {
  const times = [];
  const failed = [];
  let rss = 0;
  const attacking = attack().catch(() => {});
  const watching = setInterval(() => {
    rss = Math.max(rss, rssOf(pid));
  }, 50);
  const calls = [];
  const end = Date.now() + PHASE_MS;
  for (let count = 0; Date.now() < end; count += 1) {
    const due = performance.now();
    // Both eras in turn: a session that exists, and requests that stand alone.
    const made =
      count % 2 === 0
        ? victim.call('/mcp/shared', 'echo', { text: String(count) })
        : victim.callIn('/mcp/shared', session, 'echo', { text: String(count) });
    calls.push(
      made.then(
        (text) => {
          times.push(performance.now() - due);
          if (text !== String(count)) failed.push(`${count} was answered with ${String(text).slice(0, 200)}`);
        },
        (error) => failed.push(error.message),
      ),
    );
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
  await Promise.all(calls);
  clearInterval(watching);
  await Promise.race([attacking, new Promise((resolve) => setTimeout(resolve, 2000))]);
  times.sort((a, b) => a - b);
  const at = (part) => times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? Number.NaN;
  return {
    calls: times.length,
    failed: failed.length,
    why: failed[0],
    p50: at(0.5),
    p99: at(0.99),
    max: at(1),
    rssMb: rss,
  };
}

function clientAt(localAddress, base) {
  const agent = new Agent({ connections: 64, localAddress, headersTimeout: 0, bodyTimeout: 0 });
  const flood = new Agent({ connections: 2000, localAddress, headersTimeout: 0, bodyTimeout: 0 });
  let id = 0;
  async function post(path, headers, method, params, { dispatcher = agent, ms = PHASE_MS } = {}) {
    id += 1;
    const answer = await request(new URL(path, base), {
      method: 'POST',
      dispatcher,
      signal: AbortSignal.timeout(ms),
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        ...(method.startsWith('notifications/') ? {} : { id }),
        method,
        params,
      }),
    });
    const body = await answer.body.text();
    const data = /^data: (.*)$/m.exec(body)?.[1] ?? body;
    return {
      session: answer.headers['mcp-session-id'],
      status: answer.statusCode,
      message: data && JSON.parse(data),
    };
  }
  const textOf = ({ status, message }) => {
    if (message?.result?.content) return message.result.content[0]?.text;
    return `HTTP ${status} ${JSON.stringify(message)?.slice(0, 200)}`;
  };
  return {
    async call(path, name, args, ms) {
      const _meta = {
        'io.modelcontextprotocol/protocolVersion': MODERN,
        'io.modelcontextprotocol/clientInfo': { name: 'soak', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
      };
      const headers = { 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/call', 'mcp-name': name };
      const options =
        name === 'slow' || name === 'ask'
          ? { dispatcher: flood, ms: ms ?? PHASE_MS }
          : { ms: ms ?? PHASE_MS };
      return textOf(await post(path, headers, 'tools/call', { name, arguments: args, _meta }, options));
    },
    async open(path) {
      const opened = await post(path, {}, 'initialize', {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'soak', version: '1' },
      });
      const headers = { 'mcp-session-id': opened.session, 'mcp-protocol-version': '2025-11-25' };
      if (opened.session) await post(path, headers, 'notifications/initialized', {}).catch(() => {});
      return headers;
    },
    async callIn(path, session, name, args) {
      return textOf(await post(path, session, 'tools/call', { name, arguments: args }));
    },
    async until(once) {
      const end = Date.now() + PHASE_MS;
      await Promise.all(
        Array.from({ length: 8 }, async () => {
          while (Date.now() < end) await once().catch(() => {});
        }),
      );
    },
    many: (times, once) => Promise.all(Array.from({ length: times }, () => once().catch(() => {}))),
    close: () => Promise.all([agent.destroy(), flood.destroy()]),
  };
}

async function start(folder, pages) {
  const file = join(folder, 'servers.json');
  const program = inRoot('scripts/soak-attacked-server.js');
  const shared = { command: process.execPath, args: [program] };
  const deaf = { command: process.execPath, args: [program, '--deaf'] };
  writeFileSync(file, JSON.stringify({ mcpServers: { shared, bulky: shared, deaf, pages: { url: pages } } }));
  const args = ['serve', '--config', file, '--port', '0', '--json', '-q', '--log-level', 'error'];
  const child = spawn(process.execPath, [inRoot('bin/isthmus.js'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, XDG_STATE_HOME: folder, XDG_CACHE_HOME: folder, ISTHMUS_RUNTIME_DIR: folder },
  });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  return { child, pid: child.pid, url: JSON.parse(line).addresses[0] };
}

async function pageServer() {
  const page = '<'.repeat(1024 * 1024);
  const server = createServer((_, response) =>
    response.writeHead(502, { 'content-type': 'text/html' }).end(page),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${server.address().port}/mcp`, close: () => server.close() };
}

function rssOf(pid) {
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib ?? 0) / 1024;
}

if (!isMainThread && workerData?.attack) {
  const [, , attack] = ATTACKS.find(([id]) => id === workerData.attack) ?? [];
  const attacker = clientAt('127.0.0.2', workerData.url);
  await attack?.(attacker).catch(() => {});
  await attacker.close();
}

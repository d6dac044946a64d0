// npm run soak -- --serve: a million calls in one session of `isthmus serve`, and other things that rivals leak on.
// The gateway is a process of its own: what is weighed is all of it, and the client is not.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Pool } from 'undici';
import { inRoot } from './setup/paths.js';

const IN_FLIGHT = 32;
const MAX_RSS_GROWTH = 32e6;
const MODERN = '2026-07-28';

/** Names what was not flat. */
export async function soakServe(calls) {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-soak-'));
  const gateway = await start(folder);
  const pool = new Pool(new URL(gateway.url).origin, { connections: IN_FLIGHT });
  try {
    return await soakAll(gateway, pool, calls);
  } finally {
    await pool.destroy();
    gateway.child.kill('SIGTERM');
    await once(gateway.child, 'exit');
    rmSync(folder, { recursive: true, force: true });
  }
}

async function start(folder) {
  const file = join(folder, 'servers.json');
  const demo = { command: process.execPath, args: [inRoot('bin/isthmus.js'), 'demo'] };
  const own = { ...demo, processes: 'per-conversation', maxProcesses: 4 };
  writeFileSync(file, JSON.stringify({ mcpServers: { demo, own } }));
  const args = ['serve', '--config', file, '--port', '0', '--json', '-q', '--session-timeout', '5000'];
  const child = spawn(process.execPath, [inRoot('bin/isthmus.js'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, XDG_STATE_HOME: folder, XDG_CACHE_HOME: folder, ISTHMUS_RUNTIME_DIR: folder },
  });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  return { child, url: JSON.parse(line).addresses[0] };
}

async function soakAll({ child: { pid } }, pool, calls) {
  const failures = [];
  let most = 0;
  console.log('what                                              times    RSS MB  growth   B each  children');
  for (const [what, times, once, waitMs = 2000] of await scenes(pool, calls)) {
    await repeat(Math.round(times / 5), once);
    const before = await settled(pid, waitMs);
    await repeat(times, once);
    const after = await settled(pid, waitMs);
    // Memory that was given back is taken again.
    most = Math.max(most, before.rss);
    const growth = after.rss - most;
    const text = [
      what.padEnd(46),
      String(times).padStart(9),
      (after.rss / 1e6).toFixed(1).padStart(10),
      (growth / 1e6).toFixed(1).padStart(8),
      (growth / times).toFixed(0).padStart(9),
      String(after.children).padStart(10),
    ];
    console.log(text.join(''));
    if (growth >= MAX_RSS_GROWTH) failures.push(`${what}: ${Math.round(growth / 1e6)} MB more`);
    if (after.children > before.children)
      failures.push(`${what}: ${after.children - before.children} children more`);
  }
  return failures;
}

/** What is done again and again: its name, how often, and how. The numbers are those of research into rivals. */
async function scenes(pool, calls) {
  const post = async (path, message, headers = {}) => {
    const {
      statusCode,
      headers: got,
      body,
    } = await pool.request({
      path,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    });
    const text = await body.text();
    if (statusCode >= 300) throw new Error(`soak: ${statusCode} ${text}`);
    return { text, session: got['mcp-session-id'] };
  };
  const open = async (path) => {
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'soak', version: '1' },
    };
    const { session } = await post(path, { id: 0, method: 'initialize', params });
    return { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' };
  };
  const echo = async (path, at, headers, _meta) => {
    const params = { name: 'echo', arguments: { text: `text ${at}` }, ...(_meta && { _meta }) };
    const { text } = await post(path, { id: at, method: 'tools/call', params }, headers);
    if (!text.includes(`"text ${at}"`)) throw new Error(`soak: ${text} for text ${at}`);
  };
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const modern = { 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/call', 'mcp-name': 'echo' };
  const session = await open('/mcp/demo');
  let forgotten;
  return [
    ['D-12: calls in one session', calls, (at) => echo('/mcp/demo', at, session)],
    ['D-5: calls without a session', Math.round(calls / 5), (at) => echo('/mcp/demo', at, modern, envelope)],
    [
      'D-20: sessions that are never closed',
      Math.round(calls / 200),
      async (at) => {
        // There may be a thousand of them at a time; those before are forgotten first.
        if (at % 500 === 1) forgotten = new Promise((resolve) => setTimeout(resolve, 7000));
        await forgotten;
        const own = await open(at % 10 === 0 ? '/mcp/own' : '/mcp/demo');
        if (at % 10 !== 0) await echo('/mcp/demo', at, own);
      },
      15_000,
    ],
  ];
}

async function repeat(times, action) {
  let next = 0;
  const work = async () => {
    while (next < times) {
      next += 1;
      await action(next);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, work));
}

/** After long enough for sessions to be forgotten and memory to be given back. */
async function settled(pid, waitMs) {
  await new Promise((resolve) => setTimeout(resolve, waitMs));
  const rss = 1024 * Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]);
  return { rss, children: childrenOf(pid) };
}

function childrenOf(pid) {
  const threads = readdirSync(`/proc/${pid}/task`);
  const texts = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').trim());
  return texts.filter(Boolean).join(' ').split(' ').filter(Boolean).length;
}

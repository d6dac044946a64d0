import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCluster } from '../cluster/support.js';
import { Child, ISTHMUS } from '../support/child.js';
import { until } from '../support/until.js';
import type { Address, ClientKind } from './clients/witness.js';
import { type Played, play } from './script.js';
import type { ServerKind } from './servers.js';

// What is remembered about servers must not outlive the run.
process.env['XDG_CACHE_HOME'] = mkdtempSync(join(process.env['ISTHMUS_TEST_FOLDER'] ?? tmpdir(), 'cache-'));

/** The script of a server, played by a client that has started it. Once is enough. */
export function playDirectly(client: ClientKind, server: ServerKind): Promise<Played> {
  const key = `${client.name} ${server.family}`;
  const playing = known.get(key) ?? playWith(client, server);
  known.set(key, playing);
  return playing;
}

const known = new Map<string, Promise<Played>>();

async function playWith(client: ClientKind, server: ServerKind): Promise<Played> {
  const { args, script, user, vary, clean } = server.prepare();
  try {
    const witness = await client.connect({ command: process.execPath, args }, user);
    try {
      const who = { client: client.name, over: undefined };
      return settled(await play(script, witness, who), vary);
    } finally {
      await witness.close();
    }
  } finally {
    clean();
  }
}

/**
 * The same with `isthmus serve` between them: over HTTP there is one process for all, over stdio it belongs to the
 * one client.
 */
export async function playThrough(
  over: 'http' | 'stdio',
  client: ClientKind,
  server: ServerKind,
): Promise<Played> {
  if (over === 'http' && process.env['ISTHMUS_REPLICAS'] === '3') return playThroughCluster(client, server);
  const { behind, script, user, asksEarly, vary, clean } = server.prepare();
  const how = ['--listen', over === 'http' ? 'http://127.0.0.1:0/mcp' : 'stdio'];
  const args = [ISTHMUS, 'serve', ...how, '--', process.execPath, ...behind];
  const bridge = over === 'http' ? new Child(args[0]!, { args: args.slice(1) }) : undefined;
  try {
    const address: Address = bridge
      ? { url: await addressOf(bridge, asksEarly) }
      : { command: process.execPath, args };
    const witness = await client.connect(address, user);
    try {
      return settled(await play(script, witness, { client: client.name, over }), vary);
    } finally {
      await witness.close();
    }
  } finally {
    bridge?.kill('SIGTERM');
    await bridge?.exit(15_000);
    await bridge?.reap();
    clean();
  }
}

/** The same with three replicas behind nginx, each request to the next one. */
async function playThroughCluster(client: ClientKind, server: ServerKind): Promise<Played> {
  const { behind, script, user, asksEarly, vary, clean } = server.prepare();
  const cluster = await startCluster({ args: ['--log-level', 'info', '--', process.execPath, ...behind] });
  try {
    // One of them has the process.
    const said = () => cluster.replicas.map(({ child }) => child.stderr).join('\n');
    if (asksEarly) await until('refused question', () => /Failed to request (initial )?roots/.test(said()));
    const witness = await client.connect({ url: cluster.url }, user);
    try {
      return settled(await play(script, witness, { client: client.name, over: 'http' }), vary);
    } finally {
      await witness.close();
    }
  } finally {
    await cluster.stop();
    clean();
  }
}

/** When it listens and knows what stands behind it; and has asked nobody what it asks as soon as it is started. */
async function addressOf(bridge: Child, asksEarly: boolean): Promise<string> {
  await bridge.until('far side', () => bridge.stderr.includes('Behind it:'));
  if (asksEarly) {
    await bridge.until('refused question', () => /Failed to request (initial )?roots/.test(bridge.stderr));
  }
  return /http:\/\/127\.0\.0\.1:[1-9]\d*\/mcp/.exec(bridge.stderr)![0];
}

/** Without what is never the same twice. */
function settled(record: Played, vary: readonly (readonly [string, string])[]): Played {
  let text = JSON.stringify(record);
  for (const [from, to] of vary) text = text.replaceAll(from, to);
  for (const [from, to] of ALWAYS) text = text.replace(from, to);
  return JSON.parse(text) as Played;
}

const ALWAYS = [
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '(time)'],
  // The same, in Base64.
  [/("blob":"UmVzb3VyY2UgM[^"]{50})[^"]*/g, '$1'],
  [/\d{1,2}:\d\d:\d\d\u202f?\s?[AP]M/g, '(time)'],
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '(uuid)'],
  // Sealed by whoever asks, and by the bridge once more.
  [/"requestState":"eyJ[^"]*"/g, '"requestState":"(sealed)"'],
] as const;

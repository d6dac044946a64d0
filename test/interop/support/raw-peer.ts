import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { PATIENCE_MS } from '../../support/until.js';
import type { Frame } from './recording.js';
import type { Json, Revision } from './revision.js';

/** A client that says just what it is told to, line by line. */
export interface RawPeer {
  /** All that was said so far, by both sides. */
  readonly frames: readonly Frame[];
  send(message: Json | Json[]): void;
  /** A request in the form of the revision; resolves with the whole answering frame. */
  request(method: string, params?: Json): Promise<Json>;
  /** The first message of the server that fits, said before or still to come. */
  heard(what: string, fits: (message: Json) => boolean): Promise<Json>;
  /** Closes stdin and waits for the end. */
  close(): Promise<number | null>;
}

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

export interface RawOptions {
  /** What it declares. All that any revision knows by default. */
  readonly capabilities?: Json;
  /** Takes what ends the process for sure. The end of the running test does it by default. */
  readonly reap?: (end: () => Promise<void>) => void;
}

/** Starts a program of the repository and opens it as a client of the revision does. */
export async function openRaw(
  revision: Revision,
  program: readonly string[],
  { capabilities = ALL, reap }: RawOptions = {},
): Promise<RawPeer & { readonly opening: Json }> {
  const modern = revision === '2026-07-28';
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': revision,
    'io.modelcontextprotocol/clientCapabilities': capabilities,
    'io.modelcontextprotocol/clientInfo': CLIENT,
  };
  const peer = startRaw(program, modern ? envelope : {}, reap);
  if (modern) return { ...peer, opening: await peer.request('server/discover') };
  const opening = await peer.request('initialize', {
    protocolVersion: revision,
    capabilities,
    clientInfo: CLIENT,
  });
  peer.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  return { ...peer, opening };
}

const CLIENT = { name: 'raw', version: '1.0.0' };
const ALL = { elicitation: { form: {}, url: {} }, sampling: { tools: {}, context: {} }, roots: {} };

/** Starts a program of the repository and says nothing yet. `meta` goes with every request. */
export function startRaw(
  [program, ...args]: readonly string[],
  meta: Json = {},
  reap: NonNullable<RawOptions['reap']> = onTestFinished,
): RawPeer {
  const child: ChildProcess = spawn(process.execPath, [`${ROOT}${program}`, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  reap(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const frames: Frame[] = [];
  const waiting = new Set<() => void>();
  let id = 0;

  const send = (message: Json | Json[]) => {
    for (const one of [message].flat()) frames.push({ from: 'client', message: one });
    child.stdin!.write(`${JSON.stringify(message)}\n`);
  };
  createInterface({ input: child.stdout! }).on('line', (line) => {
    const message = JSON.parse(line) as Json | Json[];
    for (const one of [message].flat()) {
      frames.push({ from: 'server', message: one });
      if (one['method'] !== undefined && one['id'] !== undefined) {
        send({ jsonrpc: '2.0', id: one['id'], result: ANSWERS[String(one['method'])] });
      }
    }
    for (const look of [...waiting]) look();
  });

  const heard = (what: string, fits: (message: Json) => boolean) =>
    new Promise<Json>((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.delete(look);
        reject(new Error(`${what} did not come; the last was ${JSON.stringify(frames.at(-1))}`));
      }, PATIENCE_MS);
      const look = () => {
        const found = frames.find(({ from, message }) => from === 'server' && fits(message));
        if (!found) return;
        clearTimeout(timer);
        waiting.delete(look);
        resolve(found.message);
      };
      waiting.add(look);
      look();
    });

  return {
    frames,
    send,
    heard,
    request(method, params) {
      id += 1;
      const own = id;
      const _meta = { ...meta, ...(params?.['_meta'] as Json | undefined) };
      const full = Object.keys(_meta).length > 0 ? { ...params, _meta } : params;
      send({ jsonrpc: '2.0', id: own, method, ...(full && { params: full }) });
      return heard(`the answer to ${method}`, (one) => one['id'] === own && one['method'] === undefined);
    },
    async close() {
      child.stdin!.end();
      return ended;
    },
  };
}

/** What this client says to whatever it is asked. */
export const ANSWERS: Record<string, Json> = {
  ping: {},
  'roots/list': { roots: [{ uri: 'file:///raw' }] },
  'sampling/createMessage': {
    role: 'assistant',
    model: 'raw',
    content: { type: 'text', text: 'sampled' },
  },
  'elicitation/create': { action: 'accept', content: { name: 'Ada', many: ['a'], ok: true, color: 'blue' } },
};

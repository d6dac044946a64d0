import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Frame, HttpSide, Life, Recording } from './recording.js';
import type { Json } from './revision.js';

const SERVER = fileURLToPath(new URL('../peers/demo-over-http.mjs', import.meta.url));

/** Our demo server on a port of its own, and every message that a client and it exchange by `fetch`. */
export async function recordHttp(kind: HttpSide['kind'], ...args: string[]): Promise<Recording> {
  const child = spawn(process.execPath, [SERVER, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const life = new RecordedLife(child);
  const recording: Recording = {
    command: '',
    args: [],
    http: {
      kind,
      url: new URL(kind === 'sse' ? '/sse' : url, url),
      fetch: tapped(life),
      async stop() {
        if (life.exit) return;
        const exited = once(child, 'exit');
        child.kill('SIGTERM');
        await exited;
      },
    },
    lives: () => [life],
    life: () => life,
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
  return recording;
}

class RecordedLife implements Life {
  readonly pid: number;
  readonly frames: Frame[] = [];
  readonly garbage: string[] = [];
  readonly signals: string[] = [];
  exit: Life['exit'];

  constructor(child: ChildProcess) {
    this.pid = child.pid!;
    child.on('exit', (code, signal) => {
      this.exit = { code, signal };
    });
  }

  keep(from: Frame['from'], text: string): void {
    try {
      const value = JSON.parse(text) as Json | Json[];
      for (const message of Array.isArray(value) ? value : [value]) this.frames.push({ from, message });
    } catch {
      this.garbage.push(text);
    }
  }
}

/** A `fetch` that keeps what passes; a stream passes as it comes, and hanging up reaches the server. */
function tapped(life: RecordedLife): HttpSide['fetch'] {
  return async (input, init) => {
    if (typeof init?.body === 'string') life.keep('client', init.body);
    const response = await fetch(input, init);
    const { status, statusText, headers } = response;
    const type = headers.get('content-type') ?? '';
    if (type.startsWith('text/event-stream') && response.body) {
      const decoder = new TextDecoder();
      let rest = '';
      const tap = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
          rest = blocks.pop()!;
          for (const block of blocks) {
            const data = messageIn(block);
            if (data !== undefined) life.keep('server', data);
          }
          controller.enqueue(chunk);
        },
      });
      return new Response(response.body.pipeThrough(tap), { status, statusText, headers });
    }
    if (!type.startsWith('application/json')) return response;
    const text = await response.text();
    // Refusals of GET and DELETE are HTTP's business; what answers a POST is a message.
    if (init?.method === 'POST') life.keep('server', text);
    return new Response(text, { status, statusText, headers });
  };
}

/** The content of a message event; keep-alives, priming events and the 2024 endpoint event have none. */
function messageIn(block: string): string | undefined {
  const lines = block.split('\n');
  const event = lines.find((line) => line.startsWith('event: '))?.slice('event: '.length) ?? 'message';
  const data = lines.find((line) => line.startsWith('data: '))?.slice('data: '.length);
  return event === 'message' && data !== undefined && data !== '' ? data : undefined;
}

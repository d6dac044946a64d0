import type { FeedRequest, Hello, Topic } from '../../../src/contract.js';
import { ApiError, ask, forgetKey, send } from '../api.js';
import { clockAhead, hello, line, phase } from './session.js';
import { forgetAll, logs, questions, rows, take } from './store.js';

/** Follows the process for as long as the page is open. It asks again after a break, and starts over after a restart. */
export async function follow(): Promise<void> {
  let tries = 0;
  for (;;) {
    try {
      // A page that has lost its process says so until the line is open again.
      if (!('since' in line.peek())) line.value = { state: 'opening' };
      await greet();
      const why = await readFeed(() => {
        tries = 0;
        line.value = { state: 'open' };
        phase.value = { at: 'ready' };
      });
      if (why === 'hidden') {
        await seen();
        continue;
      }
      await pause('ended', why, tries);
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) {
        forgetKey();
        phase.value = { at: 'door', problem: error };
        return;
      }
      await pause('lost', error instanceof Error ? error.message : String(error), tries);
    }
    tries += 1;
  }
}

/** What runs here, and whether it is still the process of before. */
async function greet(): Promise<void> {
  const said = await ask('GET hello', {});
  clockAhead.value = said.now - Date.now();
  const known = hello.peek();
  if (known && known.began !== said.began) forgetAll();
  hello.value = said;
}

/** Settles with why the stream has ended. */
async function readFeed(opened: () => void): Promise<string> {
  const stop = new AbortController();
  const offHidden = whenHidden(() => stop.abort('hidden'));
  try {
    const response = await send('POST feed', { body: feedRequest(hello.peek()!), signal: stop.signal });
    opened();
    questions.clear();
    return await readEvents(response.body!);
  } catch (error) {
    if (stop.signal.aborted) return 'hidden';
    throw error;
  } finally {
    offHidden();
  }
}

function feedRequest({ face, levels }: Hello): FeedRequest {
  const both: Topic[] = ['connections', 'calls', 'questions', 'listens', 'logs'];
  const own: Topic[] = face === 'inspect' ? ['checks'] : ['status', 'series', 'recordings'];
  const wire: Topic[] = face === 'inspect' || levels.includes('record') ? ['rows'] : [];
  const lastLog = logs.all.peek().at(-1)?.number ?? 0;
  return { topics: [...wire, ...both, ...own], after: rows.lastSeq, afterLog: lastLog };
}

async function readEvents(body: ReadableStream<Uint8Array>): Promise<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let rested = performance.now();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return 'The line broke';
    // Chunks that wait already come without a pause: keys and clicks get their turn in between.
    if (performance.now() - rested > TURN_MS) {
      await nextTurn();
      rested = performance.now();
    }
    text += decoder.decode(value, { stream: true });
    let end = text.indexOf('\n\n');
    let begin = 0;
    for (; end >= 0; end = text.indexOf('\n\n', begin)) {
      const event = text.slice(begin, end);
      begin = end + 2;
      const split = event.indexOf('\ndata: ');
      if (!event.startsWith('event: ') || split < 0) continue;
      const data: unknown = JSON.parse(event.slice(split + 7));
      const name = event.slice(7, split);
      if (name === 'bye') return (data as { readonly message: string }).message;
      take(name, data);
    }
    text = text.slice(begin);
  }
}

const TURN_MS = 8;

/** Settles after what the browser has to do now. Unlike timers it works at full speed in a hidden tab. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}

async function pause(state: 'lost' | 'ended', why: string, tries: number): Promise<void> {
  const ms = Math.min(500 * 2 ** tries, 10_000);
  const before = line.peek();
  const since = 'since' in before ? before.since : Date.now();
  // A process that has said goodbye has ended, also when it is asked in vain.
  const known = before.state === 'ended' ? before : { state, why };
  line.value = { state: known.state, why: known.why, since, retryAt: Date.now() + ms };
  await new Promise<void>((resolve) => {
    wake = resolve;
    setTimeout(resolve, ms);
  });
}

let wake = () => {};

/** Asks again now. */
export function retryNow(): void {
  wake();
}

/** Browsers give a host six connections: a tab that was hidden for 30 s lets go of its stream. */
function whenHidden(action: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = () => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(action, 30_000);
  };
  document.addEventListener('visibilitychange', look);
  look();
  return () => {
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', look);
  };
}

function seen(): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (document.hidden) return;
      document.removeEventListener('visibilitychange', look);
      resolve();
    };
    document.addEventListener('visibilitychange', look);
    look();
  });
}

import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import { createDeferred } from '@isthmus/sdk/internal/async/deferred.js';
import type { Member } from '@isthmus/sdk/internal/cluster/member-list.js';
import type { HttpStream } from '@isthmus/sdk/internal/transport/http-server/exchange/exchange.js';
import type { PeerRequest } from '@isthmus/sdk/internal/transport/peers/envelope.js';
import type { PeerClient } from '@isthmus/sdk/internal/transport/peers/peer-client.js';
import { decodeError, parseJson } from '../control/protocol.js';
import type { LogLine } from '../log-tail.js';

/** Writes lines to another member, one JSON object each. A member that does not read stops the reading of lines. */
export async function sendLines(
  lines: AsyncIterable<LogLine>,
  stream: HttpStream,
  signal: AbortSignal,
): Promise<void> {
  let drained = createDeferred<void>();
  const wake = () => drained.resolve();
  stream.onDrain(wake);
  signal.addEventListener('abort', wake);
  for await (const line of lines) {
    if (signal.aborted) return;
    stream.write(`${JSON.stringify(line)}\n`);
    if (stream.waiting <= MAX_UNREAD_BYTES) continue;
    drained = createDeferred<void>();
    await drained.promise;
  }
  stream.end();
}

export interface LinesCall {
  readonly client: PeerClient;
  readonly member: Member;
  readonly request: PeerRequest;
  /** How long the head of the answer may take. */
  readonly headMs: number;
}

/** The lines of another member, as they come. It is not read faster than they are taken. */
export async function* linesOfMember(
  { client, member, request, headMs }: LinesCall,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<LogLine> {
  const chunks: Buffer[] = [];
  let waiting = 0;
  let status = 0;
  let isOver = false;
  let failure: string | undefined;
  let changed = createDeferred<void>();
  const call = client.send(member, request, undefined, {
    begin(given) {
      callOff();
      status = given;
    },
    data(chunk) {
      chunks.push(chunk);
      waiting += chunk.length;
      changed.resolve();
      return waiting <= MAX_UNREAD_BYTES;
    },
    end() {
      isOver = true;
      changed.resolve();
    },
    failed({ why }) {
      isOver = true;
      failure = why;
      changed.resolve();
    },
  });
  const callOff = clock.after(headMs, () => {
    failure = `no answer within ${headMs} ms`;
    onAbort();
  });
  const onAbort = () => {
    isOver = true;
    chunks.length = 0;
    call.abort();
    changed.resolve();
  };
  signal.addEventListener('abort', onAbort);
  let rest = Buffer.alloc(0);
  try {
    if (signal.aborted) onAbort();
    for (;;) {
      const chunk = chunks.shift();
      if (chunk) {
        waiting -= chunk.length;
        call.resume();
        rest = Buffer.concat([rest, chunk]);
        if (status !== 200) continue;
        const end = rest.lastIndexOf('\n') + 1;
        for (const text of rest.toString('utf8', 0, end).split('\n')) {
          if (text !== '') yield parseJson(text) as LogLine;
        }
        rest = rest.subarray(end);
      } else if (isOver) break;
      else {
        await changed.promise;
        changed = createDeferred<void>();
      }
    }
    if (signal.aborted) return;
    if (failure !== undefined) throw new Error(failure);
    if (status !== 200) throw decodeError(parseJson(rest.toString()));
  } finally {
    callOff();
    signal.removeEventListener('abort', onAbort);
    if (!isOver) call.abort();
  }
}

/** Of one member. A line has at most 4 kB. */
const MAX_UNREAD_BYTES = 256 * 1024;

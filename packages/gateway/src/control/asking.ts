import type { Socket } from 'node:net';
import { systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { createDeferred, type Deferred } from '@isthmus/sdk/internal/async/deferred.js';
import { IsthmusError, messageOf } from '@isthmus/sdk/internal/errors.js';
import type { Attached } from './connect-control.js';
import { readControlLines } from './control-lines.js';
import { type ControlRequest, encodeRequest, readAnswer } from './protocol.js';

/** A request that has no id yet. */
type Question = ControlRequest extends infer R ? (R extends { id: number } ? Omit<R, 'id'> : never) : never;

/** The asking end of a control connection: requests and their answers. */
export interface Asking {
  readonly closed: Promise<void>;
  ask(question: Question, ms: number): Promise<unknown>;
  /** Lines until the gateway has no more, the signal comes or nobody wants another one. */
  follow(question: Question, signal: AbortSignal): AsyncIterable<unknown>;
  attach(params: Readonly<Record<string, unknown>>, ms: number): Promise<Attached>;
  close(): void;
}

export function createAsking(socket: Socket): Asking {
  const closed = createDeferred<void>();
  const waiting = new Map<
    number,
    { readonly answer: Deferred<unknown>; readonly inflow?: Inflow<unknown> }
  >();
  let lastId = 0;
  let failure: unknown;

  function receive(line: string): void {
    const answer = readAnswer(line);
    if (!answer)
      return fail(
        new IsthmusError(
          'INVALID_RESULT',
          `What listens on the control socket is no gateway: it sent ${JSON.stringify(line.slice(0, 100))}`,
        ),
      );
    if (answer.id === null) return answer.kind === 'error' ? fail(answer.error) : undefined;
    const asked = waiting.get(answer.id);
    if (!asked) return;
    if (answer.kind === 'line') return asked.inflow?.add(answer.line);
    waiting.delete(answer.id);
    if (answer.kind === 'result') asked.answer.resolve(answer.result);
    else asked.answer.reject(answer.error);
  }

  /** Nothing that was asked will be answered. */
  function fail(error: unknown): void {
    failure ??= error;
    socket.destroy();
  }

  function send(question: Question, inflow?: Inflow<unknown>): { id: number; answer: Promise<unknown> } {
    const id = ++lastId;
    const answer = createDeferred<unknown>();
    // Whoever follows looks at it later.
    answer.promise.catch(() => {});
    if (socket.destroyed || !socket.writable) answer.reject(gone());
    else {
      waiting.set(id, { answer, ...(inflow && { inflow }) });
      socket.write(encodeRequest({ ...question, id } as ControlRequest));
    }
    return { id, answer: answer.promise };
  }

  function gone(): unknown {
    return (
      failure ??
      new IsthmusError('CONNECTION_CLOSED', 'The gateway ended the control connection', { sent: 'maybe' })
    );
  }

  async function ask(question: Question, ms: number): Promise<unknown> {
    const { id, answer } = send(question);
    const late = createDeferred<never>();
    const callOff = systemClock.after(ms, () => {
      waiting.delete(id);
      late.reject(
        new IsthmusError('TIMED_OUT', `The gateway did not answer ${question.verb} within ${ms} ms`, {
          sent: 'maybe',
        }),
      );
    });
    return Promise.race([answer, late.promise]).finally(callOff);
  }

  async function* follow(question: Question, signal: AbortSignal): AsyncGenerator<unknown> {
    if (signal.aborted) return;
    // What is not taken stays in the socket, and the gateway holds its lines back.
    const inflow = createInflow<unknown>({ onFull: () => socket.pause(), onRoom: () => socket.resume() });
    const { id, answer } = send(question, inflow);
    answer.then(
      () => inflow.end(),
      (error) => inflow.fail(error),
    );
    const stop = () => inflow.end();
    signal.addEventListener('abort', stop, { once: true });
    try {
      yield* inflow;
    } finally {
      signal.removeEventListener('abort', stop);
      if (waiting.delete(id) && socket.writable)
        socket.write(encodeRequest({ verb: 'cancel', id: ++lastId, of: id }));
      socket.resume();
    }
  }

  async function attach(params: Readonly<Record<string, unknown>>, ms: number): Promise<Attached> {
    const handedOver = createDeferred<Attached>();
    const id = lastId + 1;
    const asked = ask({ verb: 'attach', params }, ms);
    // The stream must be let go in the very moment of the answer, not a promise later.
    const entry = waiting.get(id);
    if (entry) {
      waiting.set(id, {
        answer: {
          ...entry.answer,
          resolve(result) {
            const leftover = lines.release();
            socket.off('close', onClose);
            closed.resolve();
            handedOver.resolve({ stream: socket, leftover, result });
            entry.answer.resolve(result);
          },
        },
      });
    }
    await asked;
    return handedOver.promise;
  }

  const onClose = () => {
    for (const { answer } of waiting.values()) answer.reject(gone());
    waiting.clear();
    closed.resolve();
  };
  socket.on('error', (error) => {
    failure ??= new IsthmusError('CONNECTION_CLOSED', `The control connection broke: ${messageOf(error)}`, {
      sent: 'maybe',
      cause: error,
    });
  });
  socket.on('close', onClose);
  const lines = readControlLines(socket, {
    maxLineBytes: MAX_ANSWER_BYTES,
    onLine: receive,
    onOversize: () =>
      fail(new IsthmusError('RESULT_TOO_LARGE', 'The gateway answered more than can be read')),
    onEnd: () => void socket.end(),
  });
  return { closed: closed.promise, ask, follow, attach, close: () => void socket.destroy() };
}

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** Things that come when they come, for somebody who takes them one by one. */
interface Inflow<T> extends AsyncIterable<T> {
  add(item: T): void;
  /** Those that are there are still to be had. */
  end(): void;
  fail(error: unknown): void;
}

interface InflowOptions {
  /** More requests wait than should. Do not add to them now. */
  readonly onFull: () => void;
  readonly onRoom: () => void;
}

function createInflow<T>({ onFull, onRoom }: InflowOptions): Inflow<T> {
  let items: T[] = [];
  let isFull = false;
  let end: { readonly error?: unknown } | undefined;
  let wake = () => {};
  const finish = (how: { readonly error?: unknown }) => {
    end ??= how;
    wake();
  };
  return {
    add(item) {
      if (end) return;
      items.push(item);
      if (!isFull && items.length >= MOST) {
        isFull = true;
        onFull();
      }
      wake();
    },
    end: () => finish({}),
    fail: (error) => finish({ error }),
    async *[Symbol.asyncIterator]() {
      while (true) {
        const batch = items;
        items = [];
        if (isFull) {
          isFull = false;
          onRoom();
        }
        yield* batch;
        if (items.length > 0) continue;
        if (end) {
          if ('error' in end) throw end.error;
          return;
        }
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

const MOST = 1000;

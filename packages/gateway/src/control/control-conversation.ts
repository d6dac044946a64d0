import type { Socket } from 'node:net';
import { createDeferred } from '@isthmus/sdk/internal/async/deferred.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import { readControlLines } from './control-lines.js';
import type { Controlled } from './controlled.js';
import { type ControlRequest, encodeError, encodeLine, encodeResult, readRequest } from './protocol.js';

/** Somebody wants the connection for something else. Exactly one of `accept` and `refuse` answers. */
export interface AttachRequest {
  readonly params: Readonly<Record<string, unknown>>;
  /** Answers with a line; what is written to the stream afterwards is no longer the control protocol. */
  accept(result?: unknown): void;
  /** Answers with the error and ends the stream. */
  refuse(error: unknown): void;
}

/**
 * Takes the stream over, and owns it from then on. `leftover` is what came behind the request already:
 * `stream.unshift(leftover)` puts it back. The stream is paused, so that nothing is lost: `resume()` it, or `pipe` it.
 */
export type AttachHandler = (request: AttachRequest, stream: Socket, leftover: Buffer) => void;

/** One connection to the control socket. */
export interface ControlConversation {
  /** Settles when the connection is closed or was handed over; never rejects. */
  readonly ended: Promise<void>;
  /** Takes no more requests, ends what is followed, and hangs up when the rest is answered. */
  finish(): void;
  destroy(): void;
}

export function startConversation(
  socket: Socket,
  controlled: Controlled,
  onAttach: AttachHandler | undefined,
): ControlConversation {
  const ended = createDeferred<void>();
  const running = new Map<number, { readonly over: AbortController; readonly isEndless: boolean }>();
  let isFinishing = false;
  let isHandedOver = false;

  const write = (line: string) => {
    if (!isHandedOver && socket.writable && !socket.write(line)) socket.pause();
  };
  const hangUpWhenDone = () => {
    if (isFinishing && running.size === 0) socket.end();
  };

  function receive(line: string): void {
    const read = readRequest(line);
    if (read.kind === 'refused') write(encodeError(read.id, read.error));
    else if (read.request.verb === 'cancel') running.get(read.request.of)?.over.abort();
    else if (read.request.verb === 'attach') attach(read.request);
    else if (running.has(read.request.id)) write(encodeError(read.request.id, wrong('That id is in use')));
    else if (running.size >= MAX_RUNNING)
      write(encodeError(read.request.id, new IsthmusError('BUSY', 'Too much at once')));
    else void answer(read.request);
  }

  async function answer(request: ControlRequest): Promise<void> {
    const { id } = request;
    const over = new AbortController();
    running.set(id, { over, isEndless: request.verb === 'logs' && request.follow });
    try {
      const result =
        request.verb === 'logs' ? await send(request, over.signal) : await perform(controlled, request);
      write(encodeResult(id, result));
    } catch (error) {
      write(encodeError(id, error));
    } finally {
      running.delete(id);
      hangUpWhenDone();
    }
  }

  /** One line at a time, and none while the client does not read. */
  async function send(request: ControlRequest & { verb: 'logs' }, signal: AbortSignal): Promise<null> {
    const { id, name, lines, follow } = request;
    if (isFinishing && follow) return null;
    for await (const line of controlled.logs(name, { lines, follow }, signal)) {
      // A source that is never empty would otherwise go on before the end of the connection can be noticed.
      if (signal.aborted || !socket.writable) break;
      write(encodeLine(id, line));
      if (socket.writableNeedDrain) await drained(socket, signal);
    }
    return null;
  }

  function attach(request: ControlRequest & { verb: 'attach' }): void {
    const { id, params } = request;
    if (!onAttach) return write(encodeError(id, wrong('Nothing can be attached to this gateway')));
    if (running.size > 0)
      return write(encodeError(id, wrong('Whoever attaches does nothing else on the connection')));
    const leftover = lines.release();
    isHandedOver = true;
    socket.off('drain', resume);
    socket.off('close', onClose);
    ended.resolve();
    let answered = false;
    const once = (say: () => void) => {
      if (!answered && socket.writable) say();
      answered = true;
    };
    onAttach(
      {
        params,
        accept: (result) => once(() => socket.write(encodeResult(id, result))),
        refuse: (error) => once(() => socket.end(encodeError(id, error))),
      },
      socket,
      leftover,
    );
  }

  /** What has no end of its own would keep the connection for ever. */
  function finish(): void {
    isFinishing = true;
    for (const { over, isEndless } of running.values()) if (isEndless) over.abort();
    hangUpWhenDone();
  }

  const resume = () => void socket.resume();
  const onClose = () => {
    for (const { over } of running.values()) over.abort();
    ended.resolve();
  };
  // It says why in `close`; and for whoever the stream is handed to, a listener of their own.
  socket.on('error', () => {});
  socket.on('drain', resume);
  socket.on('close', onClose);
  const lines = readControlLines(socket, {
    maxLineBytes: MAX_REQUEST_BYTES,
    onLine: receive,
    onOversize: () =>
      write(encodeError(null, wrong(`A control request has at most ${MAX_REQUEST_BYTES} bytes`))),
    onEnd: finish,
  });
  return { ended: ended.promise, finish, destroy: () => void (isHandedOver || socket.destroy()) };
}

const MAX_RUNNING = 32;
const MAX_REQUEST_BYTES = 1024 * 1024;

async function perform(controlled: Controlled, request: ControlRequest): Promise<unknown> {
  switch (request.verb) {
    case 'status':
      return controlled.status();
    case 'reload':
      return controlled.reload();
    case 'shutdown':
      return controlled.shutdown();
    case 'restart':
    case 'stop':
    case 'start':
      return controlled[request.verb](request.name);
    default:
      throw wrong(`This gateway cannot do ${request.verb}`);
  }
}

function drained(socket: Socket, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      socket.off('drain', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    if (signal.aborted) return resolve();
    socket.on('drain', done);
    signal.addEventListener('abort', done);
  });
}

function wrong(message: string): IsthmusError {
  return new IsthmusError('INVALID_OPTION', message);
}

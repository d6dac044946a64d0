import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Requests that a client sends before it has the answer to its last one. Their answers leave in order, so each is served
 * when the one before it has its answer: otherwise a client that does not read would make any number of answers wait
 * here, and its calls would go on when it is gone, since Node reports that only for the first of them.
 */
export class PipelinedRequests {
  readonly #serve: (request: IncomingMessage, response: ServerResponse) => void;
  readonly #waiting = new WeakMap<Socket, number>();

  constructor(serve: (request: IncomingMessage, response: ServerResponse) => void) {
    this.#serve = serve;
  }

  add(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const waiting = this.#waiting.get(socket) ?? 0;
    if (waiting >= MAX_PIPELINED) return void socket.destroy();
    this.#waiting.set(socket, waiting + 1);
    response.once('socket', () => {
      this.#waiting.set(socket, this.#waiting.get(socket)! - 1);
      this.#serve(request, response);
    });
  }
}

/** How many may wait on one connection. */
const MAX_PIPELINED = 100;

import type { ServerResponse } from 'node:http';

/**
 * Sends the answers that get ready in one turn of the event loop at the end of the turn. A busy server reads many
 * requests in a turn. Written one by one, each answer wakes a client that has gone back to sleep. A bare server with 32
 * connections needs a quarter to a third less CPU this way (docs/decisions/0025-answers-of-a-turn-leave-together.md).
 */
export class ReadyAnswers {
  #responses: ServerResponse[] = [];
  #bodies: string[] = [];
  /** Turns in a row that had a single answer. */
  #lone = 0;
  /** So many answers are sent at once: lately there was nothing to wait for. */
  #unbatched = 0;
  readonly #flush = () => this.#sendAll();

  /** The head of the response is written already. */
  send(response: ServerResponse, body: string): void {
    if (this.#unbatched > 0) {
      this.#unbatched -= 1;
      sendText(response, body);
      return;
    }
    const count = this.#responses.push(response);
    this.#bodies.push(body);
    if (count === 1) setImmediate(this.#flush);
    else if (count === MAX_ANSWERS) this.#sendAll();
  }

  #sendAll(): void {
    const responses = this.#responses;
    const bodies = this.#bodies;
    if (responses.length === 0) return;
    this.#responses = [];
    this.#bodies = [];
    this.#lone = responses.length === 1 ? this.#lone + 1 : 0;
    if (this.#lone === LONE_TURNS) {
      this.#lone = 0;
      this.#unbatched = UNBATCHED;
    }
    for (let at = 0; at < responses.length; at += 1) {
      const response = responses[at]!;
      // The client may have gone.
      if (!response.destroyed) sendText(response, bodies[at]!);
    }
  }
}

/**
 * The text is written alone, and the answer ends when Node has passed it to the system. `end(text)` would write an empty
 * text behind it, and two texts take a longer way through Node.
 */
function sendText(response: ServerResponse, text: string): void {
  const { socket } = response;
  if (text === '' || !socket) return void response.end(text);
  // Otherwise Node would keep the text until the end of the turn.
  socket.cork();
  response.write(text);
  socket.uncork();
  response.end();
}

/** An answer waits for at most so many others. */
const MAX_ANSWERS = 32;
/** After so many turns with a single answer, waiting is pointless for a while. */
const LONE_TURNS = 4;
const UNBATCHED = 60;

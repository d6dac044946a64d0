import { createDeferred } from '../../../async/deferred.js';
import type { RequestFacts } from '../../../exchange/call.js';
import {
  ExchangeFacts,
  type HttpBody,
  type HttpExchange,
  type HttpHeaders,
  type HttpStream,
} from './exchange.js';

/** An exchange over the Web's `Request` and `Response`. */
export class FetchExchange implements HttpExchange {
  readonly method: string;
  readonly target: string;
  readonly isLocal = undefined;
  /** Settles when the answer begins. */
  readonly response: Promise<Response>;
  readonly #request: Request;
  readonly #answer = createDeferred<Response>();
  #complete = false;
  #isGone = false;
  #onGone: (() => void)[] = [];
  #onOver: (() => void)[] = [];

  constructor(request: Request) {
    const url = new URL(request.url);
    this.#request = request;
    this.method = request.method;
    this.target = url.pathname + url.search;
    this.response = this.#answer.promise;
    request.signal?.addEventListener('abort', () => this.#gone(), { once: true });
  }

  header(name: string): string | undefined {
    const value = this.#request.headers.get(name) ?? undefined;
    // Not every runtime lists it among the headers.
    return value === undefined && name === 'host' ? new URL(this.#request.url).host : value;
  }

  facts(): RequestFacts {
    return new ExchangeFacts(() => this.#request.headers);
  }

  body(maxBytes: number, onBody: (body: HttpBody) => void): void {
    void this.#body(maxBytes).then(onBody);
  }

  async #body(maxBytes: number): Promise<HttpBody> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    try {
      const reader = this.#request.body?.getReader();
      for (;;) {
        const next = await reader?.read();
        if (!next || next.done) break;
        size += next.value.byteLength;
        if (size > maxBytes) {
          await reader?.cancel();
          return { kind: 'too-large' };
        }
        chunks.push(next.value);
      }
      return { kind: 'bytes', bytes: Buffer.concat(chunks) };
    } catch {
      // The client has gone. Not every runtime aborts the request, so the callbacks are called here.
      this.#gone();
      this.#answer.resolve(new Response(null, { status: 400 }));
      return { kind: 'gone' };
    }
  }

  respond(status: number, headers: HttpHeaders, body: string | readonly string[] = ''): void {
    this.#completed();
    const text = typeof body === 'string' ? body : body.join('');
    this.#answer.resolve(new Response(text === '' ? null : text, { status, headers }));
  }

  stream(status: number, headers: HttpHeaders): HttpStream {
    const encoder = new TextEncoder();
    const drained: (() => void)[] = [];
    let controller!: ReadableStreamDefaultController<Uint8Array>;
    let over = false;
    const body = new ReadableStream<Uint8Array>(
      {
        start: (given) => {
          controller = given;
        },
        pull: () => {
          for (const callback of drained) callback();
        },
        cancel: () => {
          over = true;
          this.#gone();
        },
      },
      { highWaterMark: HIGH_WATER_BYTES, size: (chunk) => chunk?.byteLength ?? 0 },
    );
    this.#answer.resolve(new Response(body, { status, headers }));
    return {
      get waiting() {
        return over ? 0 : Math.max(0, HIGH_WATER_BYTES - (controller.desiredSize ?? HIGH_WATER_BYTES));
      },
      write: (text) => {
        if (!over) controller.enqueue(typeof text === 'string' ? encoder.encode(text) : text);
      },
      cut: () => {
        if (over) return;
        over = true;
        this.#completed();
        controller.error(new Error('the answer was interrupted'));
      },
      end: () => {
        if (over) return;
        over = true;
        this.#completed();
        controller.close();
      },
      onDrain(callback) {
        drained.push(callback);
      },
    };
  }

  onGone(callback: () => void): void {
    if (this.#isGone) queueMicrotask(callback);
    else this.#onGone.push(callback);
  }

  onOver(callback: () => void): void {
    if (this.#complete) queueMicrotask(callback);
    else this.#onOver.push(callback);
  }

  #completed(): void {
    this.#complete = true;
    for (const callback of this.#onOver.splice(0)) callback();
  }

  #gone(): void {
    if (this.#complete) return;
    this.#completed();
    this.#isGone = true;
    for (const callback of this.#onGone.splice(0)) callback();
  }
}

const HIGH_WATER_BYTES = 64 * 1024;

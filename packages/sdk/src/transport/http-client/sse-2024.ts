import type { EventSourceMessage } from 'eventsource-parser';
import { createDeferred } from '../../async/deferred.js';
import { IsthmusError } from '../../errors.js';
import type { RequestDeadline } from './deadline.js';
import { lost, networkFailure, statusFailure } from './failures.js';
import { nameOf } from './options.js';
import { mediaType, readEvents, readSome } from './read-answer.js';
import type { RetryingHttp } from './retrying-http.js';

export interface Sse2024Options {
  readonly http: RetryingHttp;
  readonly url: URL;
  readonly maxBytes: number;
  /** Bounds the time until the server has named its endpoint. */
  deadline(): RequestDeadline;
  onEvent(event: EventSourceMessage): void;
  ready(): Promise<void> | undefined;
  /** Called when an open stream has ended, which ends the connection. */
  onEnd(error: IsthmusError): void;
}

/** HTTP with SSE (2024-11-05): one stream for everything that the server sends. Its first event names the URL to post to. */
export class Sse2024 {
  readonly #options: Sse2024Options;
  #endpoint: URL | undefined;

  constructor(options: Sse2024Options) {
    this.#options = options;
  }

  /** Where messages are posted, once the stream is open. */
  get endpoint(): URL | undefined {
    return this.#endpoint;
  }

  async open(): Promise<void> {
    const deadline = this.#options.deadline();
    try {
      this.#endpoint = await openStream(this.#options, deadline.signal);
      // The open stream has no time limit.
      deadline.stopClock();
    } catch (error) {
      deadline.cancel();
      throw error;
    }
  }
}

async function openStream(options: Sse2024Options, signal: AbortSignal): Promise<URL> {
  const { http, url, maxBytes } = options;
  const { label } = http;
  const answer = await http.send({ method: 'GET', url, headers: { accept: 'text/event-stream' }, signal });
  if (answer.status !== 200 || mediaType(answer.header('content-type')) !== 'text/event-stream') {
    await readSome(answer.body, MAX_BODY_BYTES);
    throw statusFailure(label, { status: answer.status, excerpt: 'not an event stream' });
  }
  const endpoint = createDeferred<URL>();
  let isOpen = false;
  const onEvent = (event: EventSourceMessage) => {
    if (isOpen) return options.onEvent(event);
    if (event.event !== 'endpoint') return;
    endpoint.resolve(endpointAt(event.data.trim(), url));
    isOpen = true;
  };
  readEvents(answer.body, label, maxBytes, { onEvent, ready: options.ready }).then(
    () => end(lost(`${label} ended its stream`)),
    (error) => end(error instanceof IsthmusError ? error : networkFailure(error, label)),
  );
  const end = (error: IsthmusError) => {
    endpoint.reject(error);
    if (isOpen) options.onEnd(error);
  };
  const onAbort = () => endpoint.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  return endpoint.promise.finally(() => signal.removeEventListener('abort', onAbort));
}

/** Accepts only the same origin: what is written to the stream must not choose who gets our requests. */
function endpointAt(text: string, url: URL): URL {
  if (!URL.canParse(text, url.href))
    throw badEndpoint(url, `an endpoint that is not a URL: ${JSON.stringify(text)}`);
  const endpoint = new URL(text, url);
  if (endpoint.origin !== url.origin)
    throw badEndpoint(url, `an endpoint of another origin: ${nameOf(endpoint)}`);
  return endpoint;
}

function badEndpoint(url: URL, what: string): IsthmusError {
  return new IsthmusError('INVALID_RESULT', `${nameOf(url)} named ${what}`, { sent: 'no' });
}

const MAX_BODY_BYTES = 16 * 1024;

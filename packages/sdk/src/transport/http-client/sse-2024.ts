import type { EventSourceMessage } from 'eventsource-parser';
import { createDeferred } from '../../async/deferred.js';
import { IsthmusError } from '../../errors.js';
import { lost, networkFailure, statusFailure } from './failures.js';
import { nameOf } from './options.js';
import { mediaType, readEvents, readSome } from './read-answer.js';
import type { RetryingHttp } from './retrying-http.js';

export interface Sse2024Options {
  readonly asker: RetryingHttp;
  readonly url: URL;
  readonly signal: AbortSignal;
  readonly maxBytes: number;
  onEvent(event: EventSourceMessage): void;
  ready(): Promise<void> | undefined;
  /** The stream has ended after it had begun: all is over. */
  onEnd(error: IsthmusError): void;
}

/** HTTP with SSE (2024-11-05): one stream for all that comes, whose first event says where to post to. */
export async function openSse2024(options: Sse2024Options): Promise<URL> {
  const { asker, url, signal, maxBytes } = options;
  const { label } = asker;
  const answer = await asker.ask({ method: 'GET', url, headers: { accept: 'text/event-stream' }, signal });
  if (answer.status !== 200 || mediaType(answer.header('content-type')) !== 'text/event-stream') {
    await readSome(answer.body, MAX_BODY_BYTES);
    throw statusFailure(label, { status: answer.status, words: 'no stream of events' });
  }
  const endpoint = createDeferred<URL>();
  let begun = false;
  const onEvent = (event: EventSourceMessage) => {
    if (begun) return options.onEvent(event);
    if (event.event !== 'endpoint') return;
    endpoint.resolve(endpointAt(event.data.trim(), url));
    begun = true;
  };
  readEvents(answer.body, label, maxBytes, { onEvent, ready: options.ready }).then(
    () => over(lost(`${label} ended its stream`)),
    (error) => over(error instanceof IsthmusError ? error : networkFailure(error, label)),
  );
  const over = (error: IsthmusError) => {
    endpoint.reject(error);
    if (begun) options.onEnd(error);
  };
  const onAbort = () => endpoint.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  return endpoint.promise.finally(() => signal.removeEventListener('abort', onAbort));
}

/** Only within the origin: whoever can write to the stream must not choose who gets our requests. */
function endpointAt(text: string, url: URL): URL {
  if (!URL.canParse(text, url.href))
    throw notHere(url, `an endpoint that is no URL: ${JSON.stringify(text)}`);
  const endpoint = new URL(text, url);
  if (endpoint.origin !== url.origin)
    throw notHere(url, `an endpoint of another origin: ${nameOf(endpoint)}`);
  return endpoint;
}

function notHere(url: URL, what: string): IsthmusError {
  return new IsthmusError('INVALID_RESULT', `${nameOf(url)} named ${what}`, { sent: 'no' });
}

const MAX_BODY_BYTES = 16 * 1024;

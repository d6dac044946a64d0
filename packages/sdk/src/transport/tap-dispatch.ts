import { createParser } from 'eventsource-parser';
import type { LazyLine, TapLine, TappedHttp } from '../exchange/tap.js';
import { decodeLine, decodeText } from '../wire/codec.js';
import type { Dispatch, HttpAnswer } from './http-client/dispatch.js';
import { mediaType } from './http-client/read-answer.js';

/** Sends with `dispatch`, and shows the tap each request and each answer, also those that are repeated or redirected. */
export function tapDispatch(dispatch: Dispatch, tapped: LazyLine): Dispatch {
  return async (request) => {
    const { line } = tapped;
    if (!line) return dispatch(request);
    const { method, url, headers, body } = request;
    const http: TappedHttp = { method, path: url.pathname, headers: shownHeaders(Object.entries(headers)) };
    if (body === undefined) line.http('to-server', http);
    else line.sent(body, decodeText(body), http);
    return tapAnswer(await dispatch(request), line);
  };
}

function tapAnswer(answer: HttpAnswer, line: TapLine): HttpAnswer {
  const http: TappedHttp = { status: answer.status, headers: shownHeaders(answer.headers()) };
  const type = mediaType(answer.header('content-type'));
  if (type === 'text/event-stream') {
    line.http('to-client', http);
    return { ...answer, body: tapEvents(answer.body, line) };
  }
  let isShown = false;
  const show = (body: Buffer) => {
    if (isShown) return;
    isShown = true;
    if (type === 'application/json' && body.length > 0) line.received(body, decodeLine(body), http);
    else line.http('to-client', http, body);
  };
  return {
    ...answer,
    body: collect(answer.body, show),
    discard() {
      show(NOTHING);
      answer.discard();
    },
  };
}

/** Passes the chunks on, and hands over all of them at the end. */
async function* collect(
  body: AsyncIterable<Uint8Array>,
  show: (body: Buffer) => void,
): AsyncGenerator<Uint8Array> {
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      yield chunk;
    }
  } finally {
    // The reader may have had enough, or the answer may have been interrupted.
    show(Buffer.concat(chunks));
  }
}

async function* tapEvents(body: AsyncIterable<Uint8Array>, line: TapLine): AsyncGenerator<Uint8Array> {
  const utf8 = new TextDecoder();
  const parser = createParser({
    maxBufferSize: MAX_EVENT,
    onEvent: ({ data, id, event }) => {
      if (data === '' || (event !== undefined && event !== 'message' && event !== 'endpoint')) return;
      const http = { headers: [], ...(id !== undefined && { event: id }) };
      if (event === 'endpoint') line.http('to-client', { ...http, event: 'endpoint' }, Buffer.from(data));
      else line.received(data, decodeText(data), http);
    },
    // The reader of the same stream reports what is wrong with it.
    onError: () => {},
  });
  for await (const chunk of body) {
    parser.feed(utf8.decode(chunk, { stream: true }));
    yield chunk;
  }
}

/** The names of all headers, and the values of those that cannot be secrets. */
export function shownHeaders(
  headers: readonly (readonly [string, string])[],
): readonly (readonly [string, string])[] {
  return headers.map(([name, value]) => {
    const isPlain = PLAIN.has(name.toLowerCase()) || /^mcp-param-/i.test(name);
    return [name, isPlain ? value : HIDDEN];
  });
}

export const HIDDEN = '…';
const NOTHING = Buffer.alloc(0);
/** Larger events are read by the connection, and not shown. */
const MAX_EVENT = 64 * 1024 * 1024;

const PLAIN: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'access-control-allow-origin',
  'access-control-expose-headers',
  'allow',
  'cache-control',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'retry-after',
  'server',
  'transfer-encoding',
  'user-agent',
  'vary',
  'www-authenticate',
  'x-accel-buffering',
]);

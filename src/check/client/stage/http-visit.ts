import type { Hand } from './http-stage.js';
import type { Visit } from './visit.js';

/** What is no POST, and the ways to answer it. */
export function exchangeVisit(
  about: Pick<Visit, 'method' | 'path' | 'headers'>,
  { response, exchange, record }: Hand,
): Visit {
  const out = (text: string) => record({ kind: 'out', life: 0, exchange, text });
  const begin = (status: number, head: Readonly<Record<string, string>> = {}) => {
    record({ kind: 'status', life: 0, exchange, status });
    response.writeHead(status, head);
  };
  return {
    ...about,
    status(status, body = '', head = {}) {
      begin(status, head);
      response.end(body);
    },
    stream(head = {}) {
      begin(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store', ...head });
      response.flushHeaders();
    },
    event(data, { event = 'message', id } = {}) {
      out(data);
      response.write(`event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`);
    },
    raw(text) {
      out(text);
      response.write(text);
    },
    end: () => response.end(),
  };
}

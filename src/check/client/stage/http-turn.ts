import type { JsonObject } from '../../../wire/json-rpc.js';
import type { Hand } from './http-stage.js';
import { errorOf, partsOf, resultOf, type Turn } from './turn.js';

/** A POST, and the ways to answer it. */
export function exchangeTurn(
  message: JsonObject,
  path: string,
  headers: Readonly<Record<string, string>>,
  { response, exchange, record }: Hand,
): Turn {
  const parts = partsOf(message);
  let streaming = false;
  const begin = (status: number, head: Readonly<Record<string, string>> = {}) => {
    record({ kind: 'status', life: 0, exchange, status });
    response.writeHead(status, head);
  };
  const out = (text: string) => record({ kind: 'out', life: 0, exchange, text });
  const stream = () => {
    if (streaming || response.headersSent) return;
    streaming = true;
    begin(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    response.flushHeaders();
  };
  const event = (each: JsonObject) => {
    const text = JSON.stringify(each);
    out(text);
    response.write(`event: message\ndata: ${text}\n\n`);
  };
  const finish = (each: JsonObject, status: number, head: Readonly<Record<string, string>> = {}) => {
    if (response.writableEnded || response.destroyed) return;
    if (streaming) {
      event(each);
      response.end();
      return;
    }
    if (response.headersSent) return;
    const text = JSON.stringify(each);
    begin(status, { 'content-type': 'application/json', ...head });
    out(text);
    response.end(text);
  };
  return {
    ...parts,
    over: 'http',
    path,
    headers,
    reply: (result, head) => finish(resultOf(parts.id, result), 200, head),
    fail: (code, text, data, status = 200) => finish(errorOf(parts.id, code, text, data), status),
    accept() {
      if (response.headersSent) return;
      begin(202);
      response.end();
    },
    say(each) {
      stream();
      event(each);
    },
    raw(data) {
      stream();
      out(typeof data === 'string' ? data : Buffer.from(data).toString());
      response.write(data);
    },
    log: () => Promise.resolve(),
    end: () => response.end(),
    cut: () => response.destroy(),
    status(status, body = '', head = {}) {
      begin(status, head);
      out(body);
      response.end(body);
    },
  };
}

/** Words for what a proxy with a fault does to requests and answers. */
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { ProxyHooks, ProxyRequest, ProxyResponse, TcpHooks } from '../../support/suites/mutant.js';

type Changes = Readonly<Record<string, string | undefined>>;

/** Sends the request on with other headers. */
export function withHeaders(request: ProxyRequest, changes: Changes): Partial<ProxyRequest> {
  return { headers: { ...request.headers, ...changes } };
}

export function withJson(json: unknown): Partial<ProxyRequest> {
  return { body: Buffer.from(JSON.stringify(json)) };
}

/** A JSON-RPC error with that status. */
export function refuse(status: number, code = -32020, id?: unknown): ProxyResponse {
  return respond(status, { jsonrpc: '2.0', ...(id !== undefined && { id }), error: { code, message: 'no' } });
}

export function respond(status: number, body?: unknown, type = 'application/json'): ProxyResponse {
  return {
    respond: {
      status,
      headers: body === undefined ? {} : { 'content-type': type },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    },
  };
}

/** A stream with these messages, which ends. */
export function events(...messages: readonly unknown[]): ProxyResponse {
  const text = messages.map((message) => `data: ${JSON.stringify(message)}\n\n`).join('');
  return respond(200, text, 'text/event-stream');
}

/** Does something to requests that fit, and leaves the others alone. */
export function when(
  fits: (request: ProxyRequest) => unknown,
  act: (request: ProxyRequest) => ProxyResponse | Partial<ProxyRequest>,
): ProxyHooks {
  return { request: (request) => (fits(request) ? act(request) : undefined) };
}

/** Gives answers that fit another status. */
export function status(
  from: number,
  to: number,
  fits: (request: ProxyRequest) => unknown = () => true,
): ProxyHooks {
  return {
    response: (head, request) => (head.status === from && fits(request) ? { status: to } : undefined),
  };
}

export function methodOf({ json }: ProxyRequest): unknown {
  return json?.['method'];
}

export function paramsIn({ json }: ProxyRequest): JsonObject {
  return isJsonObject(json?.['params']) ? json['params'] : {};
}

export function nameIn(request: ProxyRequest): string | undefined {
  const { name, uri } = paramsIn(request);
  const found = name ?? uri;
  return typeof found === 'string' ? found : undefined;
}

export function argumentIn(request: ProxyRequest, name: string): string | undefined {
  const args = paramsIn(request)['arguments'];
  const value = isJsonObject(args) ? args[name] : undefined;
  return value === undefined || value === null ? undefined : String(value);
}

export function sentinel(text: string): string {
  return `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

/** Ends every connection, and all that follow, once such bytes have come. */
export function fallingOn(isFatal: (bytes: Buffer) => boolean): TcpHooks {
  let hasFallen = false;
  return {
    connected(referee) {
      if (hasFallen) referee.destroy();
      return !hasFallen;
    },
    incoming(bytes, referee) {
      if (!isFatal(bytes)) return bytes;
      hasFallen = true;
      referee.destroy();
      return undefined;
    },
  };
}

/** Answers what has these words in it by itself, and leaves the others alone. */
export function answering(words: string, answer: string): TcpHooks {
  return {
    incoming(bytes, referee) {
      if (!bytes.includes(words)) return bytes;
      referee.write(answer);
      return undefined;
    },
  };
}

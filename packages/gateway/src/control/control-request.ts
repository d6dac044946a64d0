import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { IsthmusError, messageOf } from '@isthmus/sdk/internal/errors.js';
import { socketProblem } from './private-socket.js';
import {
  CONTROL_VERSION,
  decodeError,
  otherVersion,
  PARAMS_HEADER,
  parseJson,
  toHeader,
  VERSION_HEADER,
} from './protocol.js';

/** Sends a request with parameters, and settles with the JSON of the answer. Null: there is none. */
export async function askControl(
  path: string,
  request: string,
  { ms, params }: { readonly ms: number; readonly params?: unknown },
): Promise<unknown> {
  const headers: Record<string, string> = {};
  if (params !== undefined) headers[PARAMS_HEADER] = toHeader(params);
  const { response } = await openControlRequest(path, request, { ms, isWhole: true, headers });
  const text = await readText(response);
  const body = response.statusCode === 204 ? null : parseJson(text);
  if (body === undefined) throw notAGateway(text);
  return body;
}

export interface ControlRequestOptions {
  /** How long the head of the response may take. With `isWhole` also its body. */
  readonly ms: number;
  readonly isWhole?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

export interface OpenedRequest {
  readonly response: IncomingMessage;
  /** After an upgrade. */
  readonly stream?: { readonly stream: Socket; readonly leftover: Buffer };
}

/** Sends a request, such as `GET /status`. Settles with a response of this version that is not an error. */
export function openControlRequest(
  path: string,
  request: string,
  { ms, isWhole, headers, signal }: ControlRequestOptions,
): Promise<OpenedRequest> {
  const [method, target] = request.split(' ') as [string, string];
  const problem = socketProblem(path);
  if (problem !== undefined) return Promise.reject(unreachable(path, problem));
  return new Promise((resolve, reject) => {
    const sent = httpRequest({
      ...{ socketPath: path, method, path: target, agent: false },
      headers: { [VERSION_HEADER]: CONTROL_VERSION, ...headers },
    });
    let active: { destroy(error?: Error): unknown } = sent;
    const callOff = systemClock.after(ms, () => {
      const [what] = target.slice(1).split('?');
      const message = `The gateway did not answer ${what} within ${ms} ms`;
      active.destroy(new IsthmusError('TIMED_OUT', message, { sent: 'maybe' }));
    });
    const onAbort = () => active.destroy(new IsthmusError('CANCELLED', `${request} was cancelled`));
    const done = () => {
      callOff();
      signal?.removeEventListener('abort', onAbort);
    };
    signal?.addEventListener('abort', onAbort);
    sent.on('close', done);
    sent.on('error', (error) => reject(explain(path, error)));
    sent.on('response', (response) => {
      active = response;
      if (!isWhole) callOff();
      accepted(response).then(() => resolve({ response }), reject);
    });
    sent.on('upgrade', (response, stream, leftover) => {
      done();
      const wrong = versionProblem(response);
      if (!wrong) return resolve({ response, stream: { stream, leftover } });
      stream.destroy();
      reject(wrong);
    });
    sent.end();
  });
}

/** Rejects with the error that the response has in its body. */
async function accepted(response: IncomingMessage): Promise<void> {
  const wrong = versionProblem(response);
  if (wrong) response.destroy();
  if (wrong) throw wrong;
  if (Number(response.statusCode) >= 400) throw decodeError(parseJson(await readText(response)));
}

function versionProblem({ headers, statusCode }: IncomingMessage): IsthmusError | undefined {
  const version = headers[VERSION_HEADER];
  if (version === undefined) return notAGateway(`HTTP ${statusCode}`);
  return version === String(CONTROL_VERSION) ? undefined : otherVersion('command', version);
}

async function readText(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const piece of pieces(response)) {
    text += piece;
    if (text.length > MAX_BODY) throw tooLarge();
  }
  return text;
}

export async function* linesOf(response: IncomingMessage): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of pieces(response)) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop()!;
    if (rest.length > MAX_BODY) throw tooLarge();
    yield* lines;
  }
}

const MAX_BODY = 64 * 1024 * 1024;

async function* pieces(response: IncomingMessage): AsyncGenerator<string> {
  try {
    yield* response.setEncoding('utf8') as AsyncIterable<string>;
  } catch (error) {
    throw explain('', error as NodeJS.ErrnoException);
  }
}

function explain(path: string, error: NodeJS.ErrnoException & { readonly rawPacket?: Buffer }): IsthmusError {
  if (error instanceof IsthmusError) return error;
  const { code = '', syscall, rawPacket } = error;
  if (syscall === 'connect') {
    const isAway = code === 'ECONNREFUSED' || code === 'ENOENT';
    return unreachable(path, isAway ? 'no process listens there' : messageOf(error), error);
  }
  if (code.startsWith('HPE_')) {
    const said = String(rawPacket ?? '').slice(0, 100);
    const [, version] = /^\{"control":(\d+),/.exec(said) ?? [];
    return version === undefined ? notAGateway(said.trim()) : otherVersion('command', version);
  }
  const message = `The gateway ended the control connection (${messageOf(error)})`;
  return new IsthmusError('CONNECTION_CLOSED', message, { sent: 'maybe', cause: error });
}

export function notAGateway(said: string): IsthmusError {
  const sample = JSON.stringify(said.slice(0, 100));
  return new IsthmusError(
    'INVALID_RESULT',
    `The process at the control socket is not a gateway: it sent ${sample}`,
  );
}

function tooLarge(): IsthmusError {
  return new IsthmusError('RESULT_TOO_LARGE', 'The answer of the gateway is too large');
}

/** Whether no request was sent. When the gateway itself reports an unavailable address, its error has no `sent`. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof IsthmusError && error.code === 'ADDRESS_UNAVAILABLE' && error.sent === 'no';
}

function unreachable(path: string, why: string, cause?: unknown): IsthmusError {
  const message = `Cannot connect to the control socket ${path}: ${why}`;
  return new IsthmusError('ADDRESS_UNAVAILABLE', message, { cause, sent: 'no' });
}

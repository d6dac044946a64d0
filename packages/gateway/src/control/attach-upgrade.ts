import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import {
  ATTACH_PROTOCOL,
  CONTROL_VERSION,
  encodeError,
  invalidRequest,
  JSON_TYPE,
  otherVersion,
  RESULT_HEADER,
  toHeader,
  VERSION_HEADER,
} from './protocol.js';
import { MAX_HEADER_BYTES, paramsOf, refuseForeign } from './request-head.js';

/** A client wants the connection for another protocol. Exactly one of `accept` and `refuse` answers. */
export interface AttachRequest {
  readonly params: Readonly<Record<string, unknown>>;
  /** Answers with 101. What is written to the stream afterwards belongs to the other protocol. */
  accept(result?: unknown): void;
  /** Answers with the error and ends the stream. */
  refuse(error: unknown): void;
}

/**
 * Takes the stream over, and owns it from then on. `leftover` are the bytes that came after the request:
 * `stream.unshift(leftover)` puts them back. Nothing is read before `stream.resume()` or `stream.pipe()`.
 */
export type AttachHandler = (request: AttachRequest, stream: Socket, leftover: Buffer) => void;

/** Hands the connection over. After 101 the stream is no longer HTTP. */
export function attach(
  onAttach: AttachHandler,
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
): void {
  // The new owner listens for errors as well, but may come later than the first error.
  socket.on('error', () => {});
  let isAnswered = false;
  const once = (say: () => void) => {
    if (!isAnswered && socket.writable) say();
    isAnswered = true;
  };
  const refuse = (error: unknown) => once(() => endWithError(socket, error));
  try {
    refuseForeign(request);
    const params = paramsOf(request);
    if (request.url !== '/attach' || request.headers.upgrade !== ATTACH_PROTOCOL)
      throw invalidRequest(`Only /attach can be upgraded, and only to ${ATTACH_PROTOCOL}`);
    const accept = (result?: unknown) =>
      once(() => {
        const headers = {
          connection: 'Upgrade',
          upgrade: ATTACH_PROTOCOL,
          [RESULT_HEADER]: toHeader(result),
        };
        socket.write(rawHead(101, headers));
      });
    onAttach({ params, accept, refuse }, socket, head);
  } catch (error) {
    refuse(error);
  }
}

/** What is not HTTP, too large or too slow. A command of version 1 gets a line that it can read. */
export function refuseNonsense(error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  if (error.rawPacket?.[0] === '{'.charCodeAt(0)) {
    const { message } = otherVersion('gateway', 1);
    const line = { control: CONTROL_VERSION, id: null, error: { code: 'NO_COMMON_REVISION', message } };
    return void socket.end(`${JSON.stringify(line)}\n`);
  }
  endWithError(socket, describeNonsense(error.code));
}

function describeNonsense(code: string | undefined): Error {
  if (code === 'HPE_HEADER_OVERFLOW')
    return invalidRequest(`The headers of a control request have at most ${MAX_HEADER_BYTES} bytes`, 431);
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return invalidRequest('The request did not arrive in time', 408);
  return invalidRequest('A control request is HTTP/1.1');
}

function endWithError(socket: Socket, error: unknown): void {
  const { status, body } = encodeError(error);
  const headers = {
    connection: 'close',
    'content-type': JSON_TYPE,
    'content-length': Buffer.byteLength(body),
  };
  socket.end(`${rawHead(status, headers)}${body}`, () => socket.destroy());
}

/** The head of a response on a connection that Node's server has let go. */
function rawHead(status: number, headers: Readonly<Record<string, unknown>>): string {
  const all = Object.entries({ ...headers, [VERSION_HEADER]: CONTROL_VERSION });
  const lines = all.map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n`;
}

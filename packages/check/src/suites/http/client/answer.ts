import { messageOf } from '@isthmus/sdk/internal/errors.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { CheckContext } from '../../../run/check-context.js';
import { noResult } from '../../../run/failure-cause.js';
import type { HttpPeer, PeerHttpAnswer, PeerHttpRequest } from '../../../wire/http-peer.js';
import { type Frame, membersOf } from '../../../wire/transcript.js';

/** The answer to one request, or the reason why there is none. */
export interface Answer {
  /** The method of the JSON-RPC request, if the body was one. */
  readonly method: string | undefined;
  /** 0 if there is no answer. */
  readonly status: number;
  readonly http: PeerHttpAnswer | undefined;
  /** The response in the body or the stream, if there is one. */
  readonly response: Frame | undefined;
  readonly result: JsonObject | undefined;
  /** The code of a JSON-RPC error. */
  readonly code: number | undefined;
  /** A short description: `HTTP 400 with error -32020 (…)`. */
  readonly said: string;
}

/** Sends a request and reads the answer up to its response. Skips if the server limits the rate. */
export async function ask(
  context: CheckContext,
  peer: HttpPeer,
  request: Omit<PeerHttpRequest, 'ms'> & { readonly ms?: number },
): Promise<Answer> {
  const ms = request.ms ?? context.patience.answerMs;
  const method = methodIn(request.body);
  let http: PeerHttpAnswer;
  try {
    http = await peer.request({ ...request, ms });
  } catch (error) {
    return {
      method,
      status: 0,
      http: undefined,
      response: undefined,
      result: undefined,
      code: undefined,
      said: `no answer (${messageOf(error)})`,
    };
  }
  if (http.status === 429) return context.skip('the server limits the rate of requests (HTTP 429)');
  if (http.status === 408 && http.text === '')
    return context.undecided(
      'the server timed out on a complete request (HTTP 408); the machine may be busy',
    );
  return readAnswer(http, ms, method);
}

/** Reads an answer up to its response or its end. */
export async function readAnswer(http: PeerHttpAnswer, ms: number, method?: string): Promise<Answer> {
  const response = await http.waitFor(isResponse, ms);
  const { result, error } = response ? membersOf(response) : {};
  const code = isJsonObject(error) && typeof error['code'] === 'number' ? error['code'] : undefined;
  return {
    method,
    status: http.status,
    http,
    response,
    result: isJsonObject(result) ? result : undefined,
    code,
    said: `HTTP ${http.status} ${describeBody(http, response)}`,
  };
}

export function isResponse(frame: Frame): boolean {
  return frame.kind === 'result' || frame.kind === 'error';
}

/** Whether there was a result. */
export function isServed({ status, result }: Answer): boolean {
  return status === 200 && result !== undefined;
}

export function isRefused({ status }: Answer): boolean {
  return status >= 400 && status < 500;
}

/** Fails unless the request was refused with this status and one of these codes. No codes: any body is accepted. */
export function needRefusal(
  context: CheckContext,
  answer: Answer,
  what: string,
  { status = [400], codes = [] }: { readonly status?: readonly number[]; readonly codes?: readonly number[] },
): void {
  const isRight =
    status.includes(answer.status) &&
    (codes.length === 0 || (answer.code !== undefined && codes.includes(answer.code)));
  if (isRight) return;
  const wanted = `HTTP ${status.join(' or ')}${codes.length > 0 ? ` with error ${codes.join(' or ')}` : ''}`;
  context.fail(`${what} was answered with ${answer.said}`, wanted, causeInAnswer(answer));
}

export function needServed(context: CheckContext, answer: Answer, what: string): JsonObject {
  if (isServed(answer)) return answer.result!;
  return context.fail(
    `${what} was answered with ${answer.said}`,
    'HTTP 200 with a result',
    causeInAnswer(answer),
  );
}

/** The cause in an answer that is not a result. */
export function causeInAnswer({ method, result, code }: Answer): ReturnType<typeof noResult> {
  return method === undefined || result ? {} : noResult(method, code);
}

function methodIn(body: unknown): string | undefined {
  return isJsonObject(body) && typeof body['method'] === 'string' ? body['method'] : undefined;
}

function describeBody(http: PeerHttpAnswer, response: Frame | undefined): string {
  if (response?.kind === 'result') return 'with a result';
  if (response) {
    const error = membersOf(response)['error'];
    return isJsonObject(error)
      ? `with error ${String(error['code'])} (${String(error['message']).slice(0, 120)})`
      : 'with an invalid error';
  }
  if (http.text === '') return http.isStream ? 'and a stream without a response' : 'without a body';
  const start = http.text.slice(0, 80).replace(/\s+/g, ' ');
  return `with ${http.contentType || 'a body without a content type'}: ${start}`;
}

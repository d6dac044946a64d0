import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import { isModernRevision } from '@isthmus/sdk/internal/era/revisions.js';
import type { Era } from '@isthmus/sdk/internal/exchange/call.js';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { createHttpPeer, type HttpEvent, type HttpPeer } from '../wire/http-peer.js';
import { openStreamPeer, type StreamPeer } from '../wire/stream-peer.js';
import type { CheckTarget, HttpTarget, StreamTarget } from '../wire/targets.js';
import { membersOf } from '../wire/transcript.js';
import {
  type CheckConversation,
  createKnownFaults,
  type KnownFaults,
  type Reply,
  replyOf,
} from './conversation.js';
import { helloMessage } from './envelope.js';
import { createHttpLegacyConversation, legacyHeaders } from './http-legacy-conversation.js';
import { createHttpModernConversation, modernHeaders } from './http-modern-conversation.js';
import { createStreamConversation } from './stream-conversation.js';

export interface OpenConversationOptions {
  readonly era: Era;
  readonly revision: string;
  readonly clock: Clock;
  /** The timeout of the first request. The server may have to start first. */
  readonly helloMs: number;
  readonly answerMs: number;
  /** Client capabilities, legacy only. Default: all. */
  readonly capabilities?: JsonObject;
  /** Streams only: settles when it is useless to wait any longer for the first answer. */
  readonly giveUp?: Promise<void>;
  /** Known faults of the server. */
  readonly knownFaults?: KnownFaults;
  /** Opens the connection, instead of `target.open`. */
  readonly openStream?: () => Promise<StreamPeer>;
}

/** `server/discover` or `initialize` failed. `reply` is the answer of the server. */
export class NoHello extends Error {
  override readonly name = 'NoHello';
  readonly reply: Reply;

  constructor(message: string, reply: Reply) {
    super(message);
    this.reply = reply;
  }
}

/** Opens a conversation: `server/discover`, or `initialize` and `notifications/initialized`. */
export function openConversation(
  target: CheckTarget,
  options: OpenConversationOptions,
): Promise<CheckConversation> {
  return target.transport === 'http' ? openHttpConversation(target, options) : openOnStream(target, options);
}

async function openOnStream(
  target: StreamTarget,
  options: OpenConversationOptions,
): Promise<CheckConversation> {
  const label = `${target.transport}, ${options.era}`;
  const peer = await (options.openStream?.() ?? openStreamPeer(target, options.clock, label));
  return openOnPeer(peer, options);
}

async function openOnPeer(peer: StreamPeer, options: OpenConversationOptions): Promise<CheckConversation> {
  const { era, revision, clock, helloMs, answerMs } = options;
  try {
    const body = helloOf(options);
    peer.send(body);
    const frame = await Promise.race([
      peer.transcript.waitFor((each) => membersOf(each)['id'] === body.id, helloMs),
      ...(options.giveUp ? [options.giveUp.then(() => undefined)] : []),
    ]);
    const about = { id: body.id, method: body.method, notifications: [], ms: helloMs };
    const { why, exited } = await describeSilence(peer);
    const silence = { kind: 'silence', why: `${why}${lastStderrLine(peer)}`, exited, ...about } as const;
    const hello = accept(frame ? replyOf(frame, about) : silence, era);
    if (era === 'legacy') peer.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return createStreamConversation({
      peer,
      era,
      revision: revisionOf(hello, revision),
      hello,
      answerMs,
      clock,
      nextId: 2,
      ...(options.knownFaults && { knownFaults: options.knownFaults }),
    });
  } catch (error) {
    await peer.close();
    throw error;
  }
}

async function openHttpConversation(
  target: HttpTarget,
  options: OpenConversationOptions,
): Promise<CheckConversation> {
  const { era, clock, answerMs, helloMs, knownFaults = createKnownFaults() } = options;
  const peer = createHttpPeer(target, clock, `http, ${era}`);
  try {
    const body = helloOf(options);
    const headers =
      era === 'modern' ? modernHeaders(body, options.revision) : legacyHeaders(undefined, undefined);
    const { reply, sessionId } = await greet(peer, body, headers, helloMs);
    if (era === 'legacy' && reply.kind !== 'result' && SSE_STATUSES.has(reply.http?.status ?? 0)) {
      const sse = await openSsePeer(createHttpPeer(target, clock, `http, ${era}`), helloMs, clock);
      if (sse) peer.close();
      if (sse) return { ...(await openOnPeer(sse, options)), peer: undefined, isSse: true };
    }
    const hello = accept(reply, era);
    const revision = revisionOf(hello, options.revision);
    if (era === 'modern')
      return createHttpModernConversation({ peer, revision, hello, answerMs, clock, knownFaults });
    const http = await peer.request({
      body: { jsonrpc: '2.0', method: 'notifications/initialized' },
      headers: legacyHeaders(revision, sessionId),
      ms: answerMs,
    });
    await http.whole(answerMs);
    return createHttpLegacyConversation({ peer, revision, hello, answerMs, clock, sessionId, knownFaults });
  } catch (error) {
    peer.close();
    throw error;
  }
}

/** How a server of 2024-11-05 answers a POST to the URL of its stream. */
const SSE_STATUSES: ReadonlySet<number> = new Set([400, 404, 405]);

async function greet(
  peer: HttpPeer,
  body: { readonly id: number; readonly method: string },
  headers: Readonly<Record<string, string>>,
  ms: number,
): Promise<{ readonly reply: Reply; readonly sessionId: string | undefined }> {
  const http = await peer.request({ body, headers, ms });
  const frame = await http.waitFor((each) => each.kind === 'result' || each.kind === 'error', ms);
  const about = { id: body.id, method: body.method, notifications: [], ms };
  const why = `HTTP ${http.status}${http.text === '' ? '' : `: ${http.text.slice(0, 200)}`}`;
  const reply: Reply = frame ? replyOf(frame, about) : { kind: 'silence', why, ...about };
  const sessionId = http.headers['mcp-session-id'];
  return { reply: { ...reply, http }, sessionId: typeof sessionId === 'string' ? sessionId : undefined };
}

function helloOf({ era, revision, capabilities }: OpenConversationOptions) {
  return { ...helloMessage(era, revision, { capabilities }), id: 1 };
}

function accept(reply: Reply, era: Era): JsonObject {
  if (reply.kind === 'result' && (era === 'modern' ? namesModern : namesVersion)(reply.result))
    return reply.result;
  throw new NoHello(describeRefusal(reply, era), reply);
}

/** A server of a draft has `protocolVersion`, as in `initialize`. It is accepted here, and a check reports it. */
function namesModern({ supportedVersions, protocolVersion }: JsonObject): boolean {
  return supportedVersions !== undefined || isModernRevision(protocolVersion);
}

function namesVersion({ protocolVersion }: JsonObject): boolean {
  return protocolVersion !== undefined;
}

function describeRefusal(reply: Reply, era: Era): string {
  const method = era === 'modern' ? 'server/discover' : 'initialize';
  if (reply.kind === 'silence') return `${method}: ${reply.why}`;
  if (reply.kind === 'error')
    return `${method} was answered with error ${reply.error.code}: ${reply.error.message}`;
  return `${method} was answered with something else: ${JSON.stringify(reply.result).slice(0, 200)}`;
}

function revisionOf(hello: JsonObject, asked: string): string {
  const chosen = hello['protocolVersion'];
  return typeof chosen === 'string' ? chosen : asked;
}

async function describeSilence({
  hasEnded,
  process,
}: StreamPeer): Promise<{ readonly why: string; readonly exited: boolean }> {
  if (!hasEnded) return { why: 'no answer', exited: false };
  if (!process) return { why: 'the connection ended', exited: false };
  // Its pipes are closed, so the process has exited or is about to.
  const exit = await Promise.race([
    process.exited,
    new Promise<void>((resolve) => setTimeout(resolve, 1000)),
  ]);
  if (!exit) return { why: 'it closed its output', exited: false };
  return { why: `the process exited with ${exit.signal ?? `code ${exit.code}`}`, exited: true };
}

/** The last line of stderr that mentions an error, or else the last line. */
function lastStderrLine(peer: StreamPeer): string {
  const lines = (peer.process?.stderr() ?? '').split('\n').map((line) => line.trim());
  const told = lines.filter((line) => line !== '' && !line.startsWith('at ') && !/^[{}]$/.test(line));
  const words = told.findLast((line) => /error|cannot|failed|denied|not found/i.test(line)) ?? told.at(-1);
  return words === undefined ? '' : `; stderr: ${words.slice(0, 300)}`;
}

/**
 * A connection over HTTP with SSE (2024-11-05): all messages of the server come on one stream, whose first event names
 * the URL for messages of the client. Undefined if there is no such stream.
 */
async function openSsePeer(peer: HttpPeer, ms: number, clock: Clock): Promise<StreamPeer | undefined> {
  let named: (event: HttpEvent) => void = () => {};
  const endpoint = new Promise<HttpEvent | undefined>((resolve) => {
    named = (event) => event.event === 'endpoint' && resolve(event);
    clock.after(ms, () => resolve(undefined), { background: true });
  });
  const stream = await peer.request({
    method: 'GET',
    headers: { accept: 'text/event-stream' },
    ms,
    onEvent: (event) => named(event),
  });
  if (stream.status !== 200 || !stream.isStream) {
    stream.close();
    return undefined;
  }
  const event = await Promise.race([endpoint, stream.ended.then(() => undefined)]);
  if (!event) {
    stream.close();
    return undefined;
  }
  const url = new URL(event.data, peer.url);
  void stream.ended.then(() => peer.transcript.end());
  const post = async (body: unknown): Promise<boolean> => {
    try {
      const answer = await peer.request({ url, body, headers: { 'content-type': 'application/json' }, ms });
      await answer.whole(ms);
      return answer.status < 300;
    } catch {
      // The waiting request reports the missing answer.
      return false;
    }
  };
  return {
    transcript: peer.transcript,
    process: undefined,
    send: (message) => void post(message),
    sendLine: (line) => void post(line),
    sendBytes: post,
    async sendInPieces(bytes) {
      await post(bytes);
    },
    endInput() {},
    vanish: () => stream.close(),
    pause() {},
    resume() {},
    ended: peer.transcript.ended,
    get hasEnded() {
      return peer.transcript.hasEnded;
    },
    async close() {
      stream.close();
      peer.close();
    },
  };
}

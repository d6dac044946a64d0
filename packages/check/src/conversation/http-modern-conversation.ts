import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import {
  encodeHeaderValue,
  headerParamValue,
  readHeaderParams,
  routingName,
} from '@isthmus/sdk/internal/era/modern/headers.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { HttpPeer, PeerHttpAnswer } from '../wire/http-peer.js';
import { type Frame, isAnswer, membersOf } from '../wire/transcript.js';
import {
  type CheckConversation,
  type CheckRequestOptions,
  type KnownFaults,
  type Pending,
  patienceFor,
  type Reply,
  replyOf,
  silenceOf,
} from './conversation.js';
import { modernParams } from './envelope.js';

export interface HttpConversationOptions {
  readonly peer: HttpPeer;
  readonly revision: string;
  readonly hello: JsonObject;
  readonly answerMs: number;
  readonly clock: Clock;
  readonly knownFaults: KnownFaults;
}

/** Modern requests over HTTP: one POST for each request. */
export function createHttpModernConversation(options: HttpConversationOptions): CheckConversation {
  const { peer, revision, hello, answerMs, clock, knownFaults } = options;
  const schemas = new Map<string, unknown>();
  const open = new Set<PeerHttpAnswer>();
  let nextId = 1;
  let isOpen = true;

  function start(method: string, params: JsonObject = {}, given: CheckRequestOptions = {}): Pending {
    const id = given.id ?? nextId++;
    const began = clock.now();
    const ms = patienceFor(knownFaults, 'modern', method, given.ms ?? answerMs);
    const body = { jsonrpc: '2.0', id, method, params: modernParams(params, revision, given) };
    const headers = { ...modernHeaders(body, revision, schemas), ...given.headers };
    let isCancelled = false;
    const sent = peer.request({ body, headers, ms }).then((http) => {
      open.add(http);
      void http.ended.then(() => open.delete(http));
      if (isCancelled) http.close();
      return http;
    });
    const own: Frame[] = [];
    const isOwn = (frame: Frame) => frame.kind === 'notification';
    const reply = sent.then(
      async (http): Promise<Reply> => {
        const frame = await http.waitFor(
          (each) => isServerAnswer(each),
          Math.max(1, ms - (clock.now() - began)),
        );
        own.push(...http.frames.filter(isOwn));
        const about = { id, method, notifications: http.frames.filter(isOwn), ms: clock.now() - began, http };
        if (frame) {
          const said = { ...replyOf(frame, about), http };
          learnTools(method, said, schemas);
          return said;
        }
        const why = isCancelled ? 'cancelled' : `HTTP ${http.status} without an answer`;
        return { kind: 'silence', why, ...about };
      },
      (error): Reply => silenceOf(error, { id, method, ms: clock.now() - began }),
    );
    return {
      id,
      reply,
      get notifications() {
        return own;
      },
      async waitFor(match, wait = answerMs) {
        const http = await sent.catch(() => undefined);
        return http?.waitFor((frame) => isOwn(frame) && match(frame), wait);
      },
      async cancel() {
        isCancelled = true;
        (await sent.catch(() => undefined))?.close();
      },
    };
  }

  return {
    era: 'modern',
    revision,
    transcript: peer.transcript,
    hello,
    capabilities: isJsonObject(hello['capabilities']) ? hello['capabilities'] : {},
    start,
    request: (method, params, given) => start(method, params, given).reply,
    async notify(method, params) {
      const body = { jsonrpc: '2.0', method, ...(params && { params }) };
      const http = await peer.request({
        body,
        headers: modernHeaders(body, revision, schemas),
        ms: answerMs,
      });
      await http.whole(answerMs);
    },
    // A modern server sends no requests.
    answerWith() {},
    // Modern notifications come on listen streams.
    hearsNews: Promise.resolve(false),
    peer: undefined,
    sessionId: undefined,
    get isOpen() {
      return isOpen;
    },
    async close() {
      isOpen = false;
      for (const http of open) http.close();
      peer.close();
    },
  };
}

/** The required headers of a modern request. */
export function modernHeaders(
  body: { readonly method: string; readonly params?: JsonObject | undefined },
  revision: string,
  schemas: ReadonlyMap<string, unknown> = new Map(),
): Record<string, string> {
  const name = routingName(body.method, body.params);
  return {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': revision,
    'mcp-method': body.method,
    ...(name !== undefined && { 'mcp-name': encodeHeaderValue(name) }),
    ...paramHeaders(body, schemas),
  };
}

function paramHeaders(
  { method, params }: { readonly method: string; readonly params?: JsonObject | undefined },
  schemas: ReadonlyMap<string, unknown>,
): Record<string, string> {
  const schema = method === 'tools/call' ? schemas.get(String(params?.['name'])) : undefined;
  const read = readHeaderParams(schema);
  if (read.kind === 'invalid') return {};
  return Object.fromEntries(
    read.params.flatMap((param) => {
      const value = headerParamValue(param, params?.['arguments']);
      return value === undefined
        ? []
        : [[`mcp-param-${param.header.toLowerCase()}`, encodeHeaderValue(value)] as const];
    }),
  );
}

/** Remembers the schemas of tools: a schema says which arguments are also headers. */
function learnTools(method: string, reply: Reply, schemas: Map<string, unknown>): void {
  if (method !== 'tools/list' || reply.kind !== 'result' || !Array.isArray(reply.result['tools'])) return;
  for (const tool of reply.result['tools']) {
    if (isJsonObject(tool)) schemas.set(String(tool['name']), tool['inputSchema']);
  }
}

function isServerAnswer(frame: Frame): boolean {
  return isAnswer(frame) && frame.from === 'server' && membersOf(frame) !== undefined;
}

import { claimsModern } from '@isthmus/sdk/internal/era/meta-keys.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { ClientTranscript, Entry, Scenario } from './model.js';
import { isMcpPath } from './scripted/script.js';

export type Head = Extract<Entry, { kind: 'head' }>;
export type In = Extract<Entry, { kind: 'in' }>;

/** A message of the client. */
export interface Said {
  readonly kind: 'request' | 'notification' | 'response';
  readonly message: JsonObject;
  readonly method: string;
  readonly params: JsonObject;
  readonly id: unknown;
  /** The era that it claims, or else the era of the connection before it. */
  readonly era: 'modern' | 'legacy';
  readonly entry: In;
  /** Its index in the entries. */
  readonly index: number;
  readonly head: Head | undefined;
  /** It came in a batch (an array). */
  readonly batched: boolean;
}

/** A message of the scripted server. */
export interface HeardMessage {
  readonly message: JsonObject;
  readonly life: number;
  readonly exchange: number | undefined;
  readonly index: number;
  /** It came in a batch (an array). */
  readonly batched: boolean;
}

/** A transcript in the form that checks read. */
export interface View {
  readonly transcript: ClientTranscript;
  readonly scenario: Scenario;
  readonly said: readonly Said[];
  readonly requests: readonly Said[];
  readonly heard: readonly HeardMessage[];
  /** HTTP requests of MCP. */
  readonly heads: readonly Head[];
  /** Other HTTP requests: OAuth, pages, schemas. */
  readonly asides: readonly Head[];
  /** Input that is not a message. */
  readonly unreadable: readonly In[];
  /** It exited with 0, in time. */
  readonly succeeded: boolean;
  /** It ended by itself, with any exit code. */
  readonly ended: boolean;
  /** The server's answer to a request of the client. */
  answerTo(request: Said): HeardMessage | undefined;
  named(method: string): readonly Said[];
}

export function viewOf(transcript: ClientTranscript, scenario: Scenario): View {
  const { entries, end } = transcript;
  const { heads, asides } = headsIn(entries);
  const aside = new Set(asides.map(({ exchange }) => exchange));
  // What was answered there is not MCP.
  const heard = heardIn(entries).filter(({ exchange }) => exchange === undefined || !aside.has(exchange));
  const { said, unreadable } = saidIn(entries, { heads, asides }, heard);
  const requests = said.filter(({ kind }) => kind === 'request');
  return {
    transcript,
    scenario,
    said,
    requests,
    heard,
    heads,
    asides,
    unreadable,
    succeeded: end.code === 0 && !end.late,
    ended: !end.late,
    answerTo: (request) => heard.find((each) => answers(each, request)),
    named: (method) => said.filter((each) => each.method === method),
  };
}

/** By id. Small ids repeat in the next process, and over HTTP in the next session. */
function answers({ message, life, index }: HeardMessage, request: Said): boolean {
  if (message['method'] !== undefined || index < request.index || life !== request.entry.life) return false;
  return message['id'] === request.id && (message['result'] !== undefined || message['error'] !== undefined);
}

/** By path. A JSON-RPC message that went to a wrong path also counts as MCP. */
function headsIn(entries: readonly Entry[]): { heads: Head[]; asides: Head[] } {
  const all = entries.filter((entry): entry is Head => entry.kind === 'head');
  const hasMessage = ({ exchange }: Head) =>
    entries.some((entry) => entry.kind === 'in' && entry.exchange === exchange && isRpc(parse(entry.text)));
  const isMcp = (head: Head) => isMcpPath(head.path) || hasMessage(head);
  return { heads: all.filter(isMcp), asides: all.filter((head) => !isMcp(head)) };
}

function isRpc(value: unknown): boolean {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return isJsonObject(first) && first['jsonrpc'] !== undefined;
}

function saidIn(
  entries: readonly Entry[],
  { heads, asides }: Pick<View, 'heads' | 'asides'>,
  heard: readonly HeardMessage[],
) {
  const said: Said[] = [];
  const unreadable: In[] = [];
  const eras = new Map<number, 'modern' | 'legacy'>();
  entries.forEach((entry, index) => {
    if (entry.kind !== 'in') return;
    const head = heads.find(({ exchange }) => exchange === entry.exchange);
    if (asides.some(({ exchange }) => exchange === entry.exchange)) return;
    const value = parse(entry.text);
    const batched = Array.isArray(value);
    const messages = (batched ? value : [value]).filter(isJsonObject);
    if (messages.length === 0) unreadable.push(entry);
    for (const message of messages) {
      const params = isJsonObject(message['params']) ? message['params'] : {};
      const method = typeof message['method'] === 'string' ? message['method'] : '';
      const before = eras.get(entry.life);
      const era = eraOf(method, params, before);
      // A refused handshake does not decide the era.
      const decides = method !== 'initialize' || wasAccepted(message['id'], entry.life, index, heard);
      if (decides && (before !== 'legacy' || claimsModern(params))) eras.set(entry.life, era);
      said.push({
        kind: kindOf(message),
        message,
        method,
        params,
        id: message['id'],
        era,
        entry,
        index,
        head,
        batched,
      });
    }
  });
  return { said, unreadable };
}

function kindOf(message: JsonObject): Said['kind'] {
  if (message['method'] === undefined) return 'response';
  return 'id' in message ? 'request' : 'notification';
}

function eraOf(method: string, params: JsonObject, before: Said['era'] | undefined): Said['era'] {
  if (claimsModern(params) || method === 'server/discover') return 'modern';
  if (method === 'initialize') return 'legacy';
  return before ?? 'legacy';
}

function wasAccepted(id: unknown, life: number, after: number, heard: readonly HeardMessage[]): boolean {
  return heard.some(
    ({ message, index, ...each }) =>
      each.life === life && index > after && message['id'] === id && message['result'] !== undefined,
  );
}

/** Messages in lines, bodies and events. Pieces that a script wrote separately are joined. */
function heardIn(entries: readonly Entry[]): HeardMessage[] {
  const heard: HeardMessage[] = [];
  const rest = new Map<string, string>();
  entries.forEach((entry, index) => {
    if (entry.kind !== 'out') return;
    const { life, exchange } = entry;
    const key = `${life}/${exchange ?? ''}`;
    const alone = messagesIn(entry.text);
    const found = alone.length > 0 ? alone : messagesIn(`${rest.get(key) ?? ''}${entry.text}`);
    if (found.length > 0) rest.delete(key);
    else rest.set(key, `${rest.get(key) ?? ''}${entry.text}`);
    for (const each of found) heard.push({ ...each, life, exchange, index });
  });
  return heard;
}

/** The messages in a text: a body, lines, or events. The data of an event may be on several lines. */
function messagesIn(text: string): Pick<HeardMessage, 'message' | 'batched'>[] {
  const blocks = /^data:/m.test(text)
    ? text
        .split(/\r?\n\r?\n/)
        .map((block) => [...block.matchAll(/^data: ?(.*)$/gm)].map(([, data]) => data).join('\n'))
    : text.split('\n');
  return blocks.flatMap((block) => {
    const value = parse(block);
    const batched = Array.isArray(value);
    return (batched ? value : [value]).filter(isJsonObject).map((message) => ({ message, batched }));
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** An `input_required` result, and the retry that followed it. */
interface HeardRound {
  readonly request: Said;
  readonly interim: HeardMessage;
  /** The keys of its input requests. */
  readonly asked: readonly string[];
  readonly retry: Said | undefined;
}

/** Each interim result, with the call that it answers and the next call of the same tool. */
export function roundsIn(view: View): HeardRound[] {
  return view.named('tools/call').flatMap((request) => {
    const interim = view.answerTo(request);
    const result = interim?.message['result'];
    if (!interim || !isJsonObject(result) || result['resultType'] !== 'input_required') return [];
    const retry = view
      .named('tools/call')
      .find(({ index, params }) => index > interim.index && params['name'] === request.params['name']);
    return [{ request, interim, asked: Object.keys(questionsIn(interim)), retry }];
  });
}

export type Retry = HeardRound & { readonly retry: Said; readonly index: number };

export function retriesIn(view: View): Retry[] {
  return roundsIn(view).flatMap((round) =>
    round.retry ? [{ ...round, retry: round.retry, index: round.retry.index }] : [],
  );
}

export function questionsIn({ message }: HeardMessage): JsonObject {
  const asked = (message['result'] as JsonObject)['inputRequests'];
  return isJsonObject(asked) ? asked : {};
}

export function stateIn({ message }: HeardMessage): unknown {
  return (message['result'] as JsonObject)['requestState'];
}

export function responsesIn({ params }: Said): JsonObject {
  return isJsonObject(params['inputResponses']) ? params['inputResponses'] : {};
}

import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type {
  AnsweredQuestion,
  ConnectionView,
  FrameKind,
  Lens,
  LensAnswer,
  LensFrame,
  LensLink,
} from '../contract.js';
import { tenth } from '../frames/ring.js';
import { differencesOf } from './differences.js';
import { differenceAt, type LensCell, noteFor } from './lens-notes.js';

/** A frame of a call, as the lens needs it. */
export interface LensSource {
  readonly seq: number;
  readonly at: number;
  readonly connection: ConnectionView;
  readonly direction: 'to-server' | 'to-client';
  readonly kind: FrameKind;
  readonly method?: string | undefined;
  readonly id?: string | number | undefined;
  /** Undefined: it is not JSON, or cut. */
  readonly message: unknown;
}

/** Both sides of a call, what each frame became on the other side, and the answers of a person in between. */
export function buildLens(
  call: number,
  given: readonly LensSource[],
  answered: { readonly questions: readonly AnsweredQuestion[]; readonly began: number } = {
    questions: [],
    began: 0,
  },
): Lens {
  const messages = given.filter(({ kind }) => MESSAGES.has(kind));
  const repeated = repeatedPolls(messages);
  const sources = messages.filter((source) => !repeated.has(source));
  const client = sources.find(({ connection }) => connection.side === 'client')?.connection;
  const upstream = sources.find(({ connection }) => connection.side === 'upstream')?.connection;
  const began = sources[0]?.at ?? 0;
  const cell: LensCell | undefined =
    client?.era && upstream?.era ? `${client.era} → ${upstream.era}` : undefined;
  const links = cell ? linksOf(sources, cell) : [];
  const rows = [
    ...new Set(links.flatMap(({ row, differences }) => [row, ...differences.map((each) => each.row)])),
  ];
  return {
    call,
    ...(client && { client: sideOf(client) }),
    ...(upstream && { upstream: sideOf(upstream) }),
    sameEra: client?.era !== undefined && client.era === upstream?.era,
    frames: sources.map((source) => frameOf(source, began)),
    links,
    notes: cell ? rows.sort((a, b) => a - b).map((row) => ({ row, say: noteFor(cell, row) })) : [],
    leftOut: repeated.size,
    answers: answered.questions.flatMap((each) => answerIn(each, sources, answered.began, began)),
    ms: tenth((sources.at(-1)?.at ?? began) - began),
  };
}

/** A task is asked for its state again and again. Answers that say nothing new, each with its request. */
function repeatedPolls(messages: readonly LensSource[]): ReadonlySet<LensSource> {
  const repeated = new Set<LensSource>();
  const last = new Map<number, string>();
  const requests = new Map<string, LensSource>();
  for (const source of messages) {
    const { method, kind, id, connection } = source;
    if (method !== 'tasks/get') continue;
    const key = `${connection.id} ${id}`;
    if (kind === 'request') requests.set(key, source);
    if (kind !== 'result') continue;
    const { lastUpdatedAt, ...state } = member(source.message, 'result');
    const text = JSON.stringify(state);
    const request = requests.get(key);
    if (last.get(connection.id) === text && request) repeated.add(source).add(request);
    last.set(connection.id, text);
  }
  return repeated;
}

const MESSAGES: ReadonlySet<FrameKind> = new Set(['request', 'result', 'error', 'notification']);

function sideOf({ era, revision, id }: ConnectionView): NonNullable<Lens['client']> {
  return { era: era!, revision: revision ?? '', connection: id };
}

function frameOf(source: LensSource, began: number): LensFrame {
  const { seq, at, connection, direction, kind, method, id, message } = source;
  return {
    ...{ seq, at: tenth(at - began), side: connection.side, direction, kind, gist: gistOf(message) },
    ...(method !== undefined && { method }),
    ...(id !== undefined && { id }),
  };
}

/** The frame that carries an answer was sent after it, whatever the two clocks say. */
function answerIn(
  { since, over, answer }: AnsweredQuestion,
  sources: readonly LensSource[],
  ringBegan: number,
  callBegan: number,
): LensAnswer[] {
  if (!over) return [];
  const asked = since - ringBegan;
  const carried = sources.find((source) => source.at > asked && stepOf(source) === 'answer');
  const at = Math.min(over.at - ringBegan, carried?.at ?? Number.POSITIVE_INFINITY);
  return [
    {
      ...{ at: Math.max(0, tenth(at - callBegan)), waitedMs: over.at - since },
      ...(answer !== undefined && { answer: answer.slice(0, MAX_GIST) }),
    },
  ];
}

/** What a frame is in the course of a call: the same word on both sides of the bridge, whatever the era. */
type Step = 'call' | 'question' | 'answer' | 'end' | 'progress' | 'cancel' | 'log';

function stepOf(source: LensSource): Step | undefined {
  const { direction, kind, method, message } = source;
  if (isOfTask(source)) return taskStepOf(source);
  if (kind === 'notification') {
    if (method === 'notifications/progress') return 'progress';
    if (method === 'notifications/cancelled') return 'cancel';
    return method === 'notifications/message' ? 'log' : undefined;
  }
  if (direction === 'to-client') {
    if (kind === 'request') return 'question';
    return member(message, 'result')['resultType'] === 'input_required' ? 'question' : 'end';
  }
  if (kind !== 'request') return 'answer';
  const params = member(message, 'params');
  return params['inputResponses'] !== undefined || params['requestState'] !== undefined ? 'answer' : 'call';
}

/** The server carries the call out as a task: it was told so, or it is asked for the task. */
function isOfTask({ method, message }: LensSource): boolean {
  return method?.startsWith('tasks/') === true || member(message, 'result')['resultType'] === 'task';
}

/** Of the requests and answers about a task, those that carry a question, its answer or the result. */
function taskStepOf({ direction, kind, method, message }: LensSource): Step | undefined {
  if (direction === 'to-server')
    return method === 'tasks/update' && kind === 'request' ? 'answer' : undefined;
  if (method !== 'tasks/get' && method !== 'tasks/result') return undefined;
  if (kind === 'error') return 'end';
  const { inputRequests, result, error } = member(message, 'result');
  if (inputRequests !== undefined) return 'question';
  return result !== undefined || error !== undefined || method === 'tasks/result' ? 'end' : undefined;
}

/** What is sent to the server begins at the client, and what is sent to the client begins at the server. */
function linksOf(sources: readonly LensSource[], cell: LensCell): LensLink[] {
  const links: LensLink[] = [];
  for (const source of sources) {
    const begins = source.direction === 'to-server' ? 'client' : 'upstream';
    const step = stepOf(source);
    if (source.connection.side !== begins || step === undefined) continue;
    const target = sources.find(
      (each) =>
        each.seq > source.seq &&
        each.connection.side !== begins &&
        each.direction === source.direction &&
        stepOf(each) === step,
    );
    if (target) links.push(linkOf(source, target, step, cell));
  }
  return links;
}

function linkOf(source: LensSource, target: LensSource, step: Step, cell: LensCell): LensLink {
  const [client, upstream] = source.connection.side === 'client' ? [source, target] : [target, source];
  const isTask = isOfTask(source) || isOfTask(target);
  const isComparable = source.kind === target.kind && !isTask;
  const found = isComparable ? differencesOf(client.message, upstream.message, MAX_DIFFERENCES) : [];
  return {
    from: source.seq,
    to: target.seq,
    row: isTask ? TASKS : step === 'end' && source.kind === 'error' ? 19 : ROWS[step],
    differences: found.map((each) => ({ ...each, ...differenceAt(each.pointer, each.in, cell) })),
  };
}

/** The rows of the table in docs/bridge.md. */
const ROWS: Readonly<Record<Step, number>> = {
  call: 1,
  question: 4,
  answer: 4,
  end: 3,
  progress: 15,
  cancel: 16,
  log: 12,
};
const TASKS = 21;
const MAX_DIFFERENCES = 50;

/** The names of what a frame carries, with those of its `_meta`. */
function gistOf(message: unknown): string {
  const body = member(message, 'params', 'result', 'error');
  const names = Object.keys(body).filter((name) => name !== '_meta');
  const meta = Object.keys(member(body, '_meta')).map((name) => SHORT[name] ?? name.split('/').at(-1)!);
  const type = body['resultType'] === undefined ? [] : [`resultType: ${String(body['resultType'])}`];
  const shown = [...type, ...names.filter((name) => name !== 'resultType')].slice(0, MAX_NAMES);
  return [...(meta.length > 0 ? [`_meta: ${meta.slice(0, MAX_NAMES).join(', ')}`] : []), ...shown]
    .join(' · ')
    .slice(0, MAX_GIST);
}

const SHORT: Readonly<Record<string, string>> = {
  'io.modelcontextprotocol/protocolVersion': 'version',
  'io.modelcontextprotocol/clientInfo': 'client',
  'io.modelcontextprotocol/clientCapabilities': 'capabilities',
  'io.modelcontextprotocol/serverInfo': 'server',
  'io.modelcontextprotocol/logLevel': 'log level',
};
const MAX_NAMES = 8;
const MAX_GIST = 200;

function member(value: unknown, ...names: readonly string[]): JsonObject {
  if (!isJsonObject(value)) return {};
  const found = names.map((name) => value[name]).find(isJsonObject);
  return found ?? {};
}

import { LOGGING_LEVELS } from '@isthmus/sdk/internal/era/reports.js';
import type { ConsoleUser } from '../access/access.js';
import type { CallTarget } from '../calls/call-target.js';
import { makeCall } from '../calls/make-call.js';
import { readList } from '../calls/read-list.js';
import type { CallRequest, CallsQuery, CompleteRequest, ListenRequest, QuestionAnswer } from '../contract.js';
import { framesOfCall } from '../frames/frame-views.js';
import { ConsoleError, invalid, notFound } from '../http/console-error.js';
import {
  boolean,
  integer,
  listOf,
  objectOf,
  oneOf,
  optional,
  type Reader,
  readFields,
  text,
} from '../http/read-fields.js';
import type { ApiRequest, Handlers } from '../http/router.js';
import type { CallEntry } from '../stores/call-store.js';
import { callDetail, contentOf, lensOf } from './call-details.js';
import type { ConsoleRecords } from './console-records.js';
import { timingOf } from './timing.js';

export interface CallHandlersOptions {
  readonly records: ConsoleRecords;
  /** The server to be called. Throws where there is none, or the user may not call it. */
  callTarget(server: string | undefined, user: ConsoleUser): CallTarget | Promise<CallTarget>;
  /** Throws where this user may not see the payloads of this call. */
  checkPayloads?(entry: CallEntry, user: ConsoleUser): void;
  /** Cancels a call that the console did not make. */
  cancelOther?(entry: CallEntry, user: ConsoleUser): void;
  /** Sends exact bytes. Undefined: this console cannot. */
  sendBytes?(bytes: string): Promise<void>;
}

/** Lists, calls, questions and subscriptions: the same for both faces. */
export function callHandlers(options: CallHandlersOptions): Handlers {
  const { records, callTarget } = options;
  const { calls, questions, listens, logs, ring } = records;
  const entryOf = ({ segments: [id], user }: ApiRequest, hasPayloads: boolean): CallEntry => {
    const entry = calls.get(integer(1, MAX)(id, 'id'));
    if (!entry) throw notFound(`Call ${id} is not kept any more, or never was`);
    if (hasPayloads) options.checkPayloads?.(entry, user);
    return entry;
  };
  return {
    async 'GET lists/:what'({ segments: [what], query, user }) {
      const { cursor, server } = readFields<ListFields>(query, LIST_QUERY, 'The query');
      const number = calls.nextOwnNumber();
      const from = await callTarget(server, user);
      const page = await readList(from, what!, { cursor, number }).catch(async (error: unknown) => {
        // A list that was being read from a connection that was replaced meanwhile is read from the new one.
        const now = await callTarget(server, user);
        if (now === from) throw error;
        return readList(now, what!, { cursor, number });
      });
      return { ...page, frames: framesOfCall(ring, number).map(({ seq }) => seq) };
    },
    async 'POST calls'({ body, user }) {
      const { bytes, method, params, ...rest } = readFields<CallFields>(body, CALL_FIELDS);
      if (bytes !== undefined) {
        if (method !== undefined || params !== undefined)
          throw invalid('Give "bytes" alone, or "method" and "params"');
        if (!options.sendBytes) throw invalid('This console cannot send exact bytes');
        await options.sendBytes(bytes);
        return { call: 0 };
      }
      if (method === undefined || params === undefined) throw invalid('A call needs "method" and "params"');
      const target = await callTarget(rest.server, user);
      return { call: makeCall(records, target, { ...rest, method, params }, user.who).row.id };
    },
    'GET calls': ({ query }) => calls.find(readFields<CallsQuery>(query, CALLS_QUERY, 'The query')),
    'GET calls/:id': (request) => callDetail(records, entryOf(request, true)),
    'GET calls/:id/content/:index': (request) =>
      contentOf(records, entryOf(request, true), integer(0, 100_000)(request.segments[1], 'index')),
    'GET calls/:id/lens': (request) => lensOf(records, entryOf(request, true).row.id),
    'DELETE calls/:id'(request) {
      const entry = entryOf(request, false);
      if (entry.row.state === 'done') throw new ConsoleError(409, 'GONE', 'This call is over');
      if (entry.cancel) entry.cancel(`${request.user.who} cancelled it`);
      else if (options.cancelOther) options.cancelOther(entry, request.user);
      else throw new ConsoleError(409, 'GONE', 'This call cannot be cancelled any more');
    },
    async 'POST complete'({ body, user }) {
      const { ref, argument, context, server } = readFields<CompleteRequest>(body, COMPLETE_FIELDS);
      const { caller } = await callTarget(server, user);
      const params = { ref, argument, ...(context && { context: { arguments: context } }) };
      const number = calls.nextOwnNumber();
      const result = await caller.call({
        ...{
          method: 'completion/complete',
          params,
          timeoutMs: COMPLETE_MS,
          maxTimeoutMs: COMPLETE_MS,
          number,
        },
      });
      return completionOf(result['completion']);
    },
    'GET questions': () => questions.all(),
    'POST questions/:id': ({ segments: [id], body }) =>
      questions.answer(integer(1, MAX)(id, 'id'), readAnswer(body)),
    'GET listens': () => listens.all(),
    async 'POST listens'({ body, user }) {
      const wanted = readFields<ListenRequest>(body, LISTEN_FIELDS);
      if (!wanted.tools && !wanted.prompts && !wanted.resources && (wanted.uris ?? []).length === 0)
        throw invalid('A subscription needs "tools", "prompts", "resources" or "uris"');
      return listens.open(await callTarget(wanted.server, user), wanted);
    },
    'DELETE listens/:id': ({ segments: [id] }) => listens.stop(integer(1, MAX)(id, 'id')),
    'GET logs'({ query }) {
      const fields = { server: optional(text(200)), lines: optional(integer(1, 2000)) };
      const { server, lines = 200 } = readFields<{ server?: string; lines?: number }>(
        query,
        fields,
        'The query',
      );
      return logs.last(lines, server);
    },
    'GET timing'({ query }) {
      const { server } = readFields<{ server?: string }>(query, { server: optional(text(200)) }, 'The query');
      return timingOf(calls.all(), server);
    },
  };
}

function completionOf(completion: unknown) {
  const { values, total, hasMore } = (completion ?? {}) as Record<string, unknown>;
  const texts = Array.isArray(values)
    ? values.filter((each): each is string => typeof each === 'string')
    : [];
  return {
    values: texts.slice(0, MAX_VALUES),
    ...(typeof total === 'number' && { total }),
    ...(typeof hasMore === 'boolean' && { hasMore }),
  };
}

interface AnswerFields {
  readonly action?: 'accept' | 'decline' | 'cancel' | undefined;
  readonly content?: string | undefined;
  readonly result?: string | undefined;
  readonly error?: { readonly code: number; readonly message: string } | undefined;
}

function readAnswer(body: unknown): QuestionAnswer {
  const { action, content, result, error } = readFields<AnswerFields>(body, {
    action: optional(oneOf('accept', 'decline', 'cancel')),
    content: optional(text(MAX_TEXT)),
    result: optional(text(MAX_TEXT)),
    error: optional(objectOf({ code: errorCode, message: text(10_000) })),
  });
  if ([action, result, error].filter((each) => each !== undefined).length !== 1)
    throw invalid('An answer has one of "action", "result" and "error"');
  if (action !== undefined) return { action, ...(content !== undefined && { content }) };
  if (content !== undefined) throw invalid('Only "action" has "content"');
  return result === undefined ? { error: error! } : { result };
}

/** JSON-RPC: any whole number, mostly negative. */
function errorCode(value: unknown, name: string): number {
  if (!Number.isSafeInteger(value)) throw invalid(`"${name}" must be a whole number`);
  return value as number;
}

interface ListFields {
  readonly cursor?: string | undefined;
  readonly server?: string | undefined;
  readonly fresh?: boolean | undefined;
}

type CallFields = { readonly bytes?: string | undefined } & Partial<Pick<CallRequest, 'method' | 'params'>> &
  Omit<CallRequest, 'method' | 'params'>;

const MAX = Number.MAX_SAFE_INTEGER;
const MAX_TEXT = 4 * 1024 * 1024;
const MAX_TIMER_MS = 2 ** 31 - 1;
const MAX_VALUES = 1000;
const COMPLETE_MS = 10_000;
const server = optional(text(200));
const ms = optional(integer(1, MAX_TIMER_MS));
const LIST_QUERY = { cursor: optional(text(10_000)), server, fresh: optional(boolean) };
const CALL_FIELDS = {
  bytes: optional(text(MAX_TEXT)),
  method: optional(text(200)),
  params: optional(text(MAX_TEXT)),
  server,
  timeoutMs: ms,
  maxTimeoutMs: ms,
  logLevel: optional(oneOf(...LOGGING_LEVELS)),
  lens: optional(boolean),
};
const CALLS_QUERY = {
  state: optional(oneOf('open', 'done')),
  server,
  tool: optional(text(200)),
  caller: optional(text(500)),
  outcome: optional(oneOf('ok', 'tool_error', 'error', 'cancelled', 'input_required')),
  before: optional(integer(1, MAX)),
  limit: optional(integer(1, 500)),
};
const LISTEN_FIELDS = {
  server,
  tools: optional(boolean),
  prompts: optional(boolean),
  resources: optional(boolean),
  uris: optional(listOf(text(10_000), 100)),
};
const COMPLETE_FIELDS = {
  ref: readRef,
  argument: objectOf({ name: text(10_000), value: text(100_000) }),
  context: optional(readTexts),
  server,
};

function readRef(value: unknown, name: string): CompleteRequest['ref'] {
  const optionalText = optional(text(10_000));
  const fields = { type: oneOf('ref/prompt', 'ref/resource'), name: optionalText, uri: optionalText };
  const ref = objectOf<{
    type: 'ref/prompt' | 'ref/resource';
    name?: string | undefined;
    uri?: string | undefined;
  }>(fields)(value, name);
  if (ref.type === 'ref/prompt' && ref.name !== undefined) return { type: ref.type, name: ref.name };
  if (ref.type === 'ref/resource' && ref.uri !== undefined) return { type: ref.type, uri: ref.uri };
  throw invalid(`"${name}" needs "name" for a prompt, and "uri" for a resource`);
}

function readTexts(value: unknown, name: string): Record<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid(`"${name}" must be an object`);
  const read: Reader<string> = text(100_000);
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, read(each, `${name}.${key}`)]));
}

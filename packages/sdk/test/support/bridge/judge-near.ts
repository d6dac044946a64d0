import { memberProblems } from '../../../../../test/interop/support/known-members.js';
import {
  type Frame,
  LOG_LEVEL,
  type Message,
  type Revision,
  SERVER_INFO,
  SUBSCRIPTION_ID,
} from './frames.js';

/**
 * What a bridge may never do to a client, whatever the test is about (wire sheet §14, the invariants below the
 * table). `frames` is one connection; over HTTP, one exchange.
 */
export function nearProblems(frames: readonly Frame[], revision: Revision): string[] {
  const rules = revision === '2026-07-28' ? new ModernClientRules() : new LegacyClientRules();
  const asked = new Map<string, string>();
  const found: string[] = [];
  for (const { from, message } of frames) {
    const problems: string[] = [];
    if (from === 'client') {
      if (message.method && message.id !== undefined) asked.set(JSON.stringify(message.id), message.method);
      rules.sent(message);
    } else {
      const method = message.method === undefined ? asked.get(JSON.stringify(message.id)) : undefined;
      problems.push(...memberProblems(message as Record<string, unknown>, method, revision));
      rules.got(message, (problem) => problems.push(problem));
    }
    for (const problem of problems) found.push(`${problem}\n    in ${JSON.stringify(message)}`);
  }
  return found;
}

/** Requests of a client that have no answer yet. */
class Pending {
  readonly #open = new Map<string, Message[]>();

  add(request: Message): void {
    const key = JSON.stringify(request.id);
    this.#open.set(key, [...(this.#open.get(key) ?? []), request]);
  }

  /** JRPC-006: the answer has the id of a request, with its type. */
  take(id: unknown): Message | undefined {
    const same = this.#open.get(JSON.stringify(id));
    const request = same?.pop();
    if (same?.length === 0) this.#open.delete(JSON.stringify(id));
    return request;
  }

  get all(): Message[] {
    return [...this.#open.values()].flat();
  }
}

type Report = (problem: string) => void;
type Params = NonNullable<Message['params']>;

/** Progress belongs to a request that runs, and rises. */
class ProgressRules {
  readonly #last = new Map<string, number>();

  begins({ params }: Message): void {
    this.#last.delete(JSON.stringify(params?._meta?.progressToken));
  }

  got(params: Params, pending: Pending, report: Report): void {
    const token = JSON.stringify(params['progressToken']);
    const runs = pending.all.some((each) => JSON.stringify(each.params?._meta?.progressToken) === token);
    if (!runs) return report('progress outside of its request (PROG-007, PROG-008)');
    if (!(params['progress'] > (this.#last.get(token) ?? Number.NEGATIVE_INFINITY))) {
      report('progress that does not rise (PROG-004)');
    }
    this.#last.set(token, params['progress']);
  }
}

class ModernClientRules {
  readonly #pending = new Pending();
  readonly #cancelled = new Set<string>();
  /** What was acknowledged, by the id of the listen. */
  readonly #listens = new Map<string, Record<string, unknown>>();
  readonly #progress = new ProgressRules();

  sent(message: Message): void {
    const { id, method, params } = message;
    if (method !== undefined && id !== undefined) {
      this.#pending.add(message);
      this.#cancelled.delete(JSON.stringify(id));
      this.#progress.begins(message);
    }
    if (method !== 'notifications/cancelled') return;
    const key = JSON.stringify(params?.requestId);
    if (this.#pending.take(params?.requestId)) this.#cancelled.add(key);
    this.#listens.delete(key);
  }

  got(message: Message, report: Report): void {
    if (message.method !== undefined && message.id !== undefined) {
      return report('a request reaches a modern client (JRPC-013)');
    }
    if (message.method === undefined) return this.#answer(message, report);
    this.#notification(message.method, message.params ?? {}, report);
  }

  #answer({ id, result, error }: Message, report: Report): void {
    if (id === undefined && error) return;
    const request = this.#pending.take(id);
    if (!request) {
      const why = this.#cancelled.has(JSON.stringify(id))
        ? 'after its cancellation (STDIO-014)'
        : 'to no request';
      return report(`an answer ${why}`);
    }
    this.#listens.delete(JSON.stringify(id));
    if (error) {
      if (!MODERN_CODES.has(error.code) && error.code <= -32000 && error.code >= -32768) {
        report(`the code ${error.code} reaches a modern client (ERR-002, ERR-004, ERR-006, ERR-008)`);
      }
      return;
    }
    const { resultType } = result;
    if (resultType !== 'complete' && resultType !== 'input_required') {
      report('a result without resultType (RTYPE-001)');
    }
    if (result._meta?.[SERVER_INFO] === undefined) report('a result without serverInfo (META-010)');
    if (resultType === 'input_required' && !ROUNDS.has(request.method!)) {
      report(`${request.method} is answered with a round (MRTR-003)`);
    }
    const hints = result.ttlMs !== undefined || result.cacheScope !== undefined;
    const cacheable = resultType === 'complete' && CACHEABLE.has(request.method!);
    if (
      cacheable &&
      !(Number.isInteger(result.ttlMs) && result.ttlMs >= 0 && SCOPES.has(result.cacheScope))
    ) {
      report('a cacheable result without caching hints (CACHE-001)');
    }
    if (!cacheable && hints && request.method !== 'tools/call')
      report('caching hints where there are none (CACHE-002)');
  }

  #notification(method: string, params: Params, report: Report): void {
    if (method === 'notifications/progress') return this.#progress.got(params, this.#pending, report);
    if (method === 'notifications/message') {
      const asked = this.#pending.all.some(({ params: own }) => {
        const level = own?._meta?.[LOG_LEVEL];
        return LEVELS.indexOf(level) >= 0 && LEVELS.indexOf(level) <= LEVELS.indexOf(params['level']);
      });
      if (!asked) report('a log that no running request asked for (LOG-002, LOG-004)');
      return;
    }
    const id = JSON.stringify((params['_meta'] as Record<string, unknown> | undefined)?.[SUBSCRIPTION_ID]);
    const listen = this.#pending.all.find((each) => JSON.stringify(each.id) === id);
    if (listen?.method !== 'subscriptions/listen')
      return report('a notification outside of any listen (SUB-002)');
    if (method === 'notifications/subscriptions/acknowledged') {
      if (this.#listens.has(id)) report('a second acknowledgement');
      this.#listens.set(id, params['notifications']);
      for (const [name, value] of Object.entries(params['notifications'])) {
        const wanted = listen.params.notifications[name];
        const within = Array.isArray(value) ? value.every((uri) => wanted?.includes(uri)) : wanted === value;
        if (!within) report(`${name} is acknowledged and was not asked for (SUB-006)`);
      }
      return;
    }
    const honoured = this.#listens.get(id);
    if (!honoured) return report('a notification before the acknowledgement (SUB-004)');
    const flag = FLAGS.get(method);
    if (method === 'notifications/resources/updated') {
      const uris = (honoured['resourceSubscriptions'] ?? []) as string[];
      if (!uris.some((uri) => String(params['uri']).startsWith(uri)))
        report('an update nobody asked for (RES-013)');
    } else if (flag === undefined || honoured[flag] !== true)
      report(`${method} was not acknowledged (SUB-002)`);
  }
}

class LegacyClientRules {
  readonly #pending = new Pending();
  readonly #cancelled = new Set<string>();
  readonly #asked = new Set<string>();
  readonly #progress = new ProgressRules();
  #capabilities: Record<string, unknown> = {};

  sent(message: Message): void {
    const { id, method, params } = message;
    if (method !== undefined && id !== undefined) {
      this.#pending.add(message);
      this.#progress.begins(message);
    }
    if (method === 'initialize') this.#capabilities = params?.capabilities ?? {};
    if (method !== 'notifications/cancelled') return;
    if (this.#pending.take(params?.requestId)) this.#cancelled.add(JSON.stringify(params?.requestId));
  }

  got(message: Message, report: Report): void {
    const { id, method, params, result, error } = message;
    if (method === undefined) {
      if (id !== undefined && !this.#pending.take(id)) {
        const why = this.#cancelled.has(JSON.stringify(id))
          ? 'after its cancellation (CANC-007)'
          : 'to no request';
        report(`an answer ${why}`);
      }
      if (result?.resultType === 'input_required') report('a legacy client sees input_required');
      for (const member of ['resultType', 'ttlMs', 'cacheScope', 'inputRequests', 'requestState']) {
        if (result?.[member] !== undefined) report(`${member} reaches a legacy client`);
      }
      if (error && MODERN_ONLY.has(error.code)) report(`the code ${error.code} reaches a legacy client`);
      return;
    }
    if (method === 'notifications/progress') this.#progress.got(params, this.#pending, report);
    if (params?._meta?.[SUBSCRIPTION_ID] !== undefined) report('subscriptionId reaches a legacy client');
    if (method === 'notifications/subscriptions/acknowledged') report(`${method} reaches a legacy client`);
    if (id === undefined) return;
    const capability = QUESTIONS.get(method);
    if (method !== 'ping' && capability === undefined) report(`${method} is nothing to ask a client`);
    if (capability && !this.#capabilities[capability]) report(`${capability} was not declared (INIT-018)`);
    if (this.#asked.has(JSON.stringify(id))) report('an id that was used before in this session (JRPC-005)');
    this.#asked.add(JSON.stringify(id));
  }
}

const MODERN_CODES = new Set([-32700, -32600, -32601, -32602, -32603, -32020, -32021, -32022]);
const MODERN_ONLY = new Set([-32020, -32021, -32022]);
const ROUNDS = new Set(['tools/call', 'prompts/get', 'resources/read']);
const CACHEABLE = new Set([
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'skills/list',
  'skills/get',
  'resources/directory/read',
]);
const SCOPES = new Set(['public', 'private']);
const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];
const FLAGS = new Map([
  ['notifications/tools/list_changed', 'toolsListChanged'],
  ['notifications/prompts/list_changed', 'promptsListChanged'],
  ['notifications/resources/list_changed', 'resourcesListChanged'],
]);
const QUESTIONS = new Map([
  ['elicitation/create', 'elicitation'],
  ['sampling/createMessage', 'sampling'],
  ['roots/list', 'roots'],
]);

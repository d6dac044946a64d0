import {
  CAPABILITIES,
  CLIENT_INFO,
  type Frame,
  LOG_LEVEL,
  type Message,
  type Revision,
  VERSION,
} from './frames.js';

/** What a bridge may never do to a server, whatever the test is about. `frames` is one connection. */
export function farProblems(frames: readonly Frame[], revision: Revision): string[] {
  const rules = revision === '2026-07-28' ? new ModernServerRules() : new LegacyServerRules(revision);
  const found: string[] = [];
  for (const { from, message } of frames) {
    const problems: string[] = [];
    if (from === 'server') rules.sent(message);
    else rules.got(message, (problem) => problems.push(problem));
    for (const problem of problems) found.push(`${problem}\n    in ${JSON.stringify(message)}`);
  }
  return found;
}

type Report = (problem: string) => void;

class ModernServerRules {
  readonly #open = new Set<string>();
  readonly #tokens = new Map<string, string>();

  sent({ id, method }: Message): void {
    if (method !== undefined || id === undefined) return;
    this.#open.delete(JSON.stringify(id));
    this.#tokens.delete(JSON.stringify(id));
  }

  got({ id, method, params }: Message, report: Report): void {
    if (method === undefined) return report('a response reaches a modern server (JRPC-014)');
    if (id === undefined) {
      if (method !== 'notifications/cancelled') return report(`${method} reaches a modern server`);
      if (!this.#open.has(JSON.stringify(params.requestId)))
        report('a cancellation of no running request (CANC-001)');
      return;
    }
    if (!MODERN_METHODS.has(method)) report(`${method} reaches a modern server`);
    const meta = params?._meta ?? {};
    if (meta[VERSION] !== '2026-07-28') report('a request without a version (META-001)');
    if (typeof meta[CAPABILITIES] !== 'object') report('a request without capabilities (META-002)');
    if (meta[CLIENT_INFO] === undefined) report('a request without identity (META-003)');
    if (this.#open.has(JSON.stringify(id))) report('an id that is in flight (JRPC-004)');
    this.#open.add(JSON.stringify(id));
    if (meta.progressToken === undefined) return;
    const token = JSON.stringify(meta.progressToken);
    if ([...this.#tokens.values()].includes(token)) report('a progress token that is in use (PROG-002)');
    this.#tokens.set(JSON.stringify(id), token);
  }
}

class LegacyServerRules {
  readonly #revision: Revision;
  readonly #used = new Set<string>();
  readonly #answered = new Set<string>();
  readonly #asked = new Set<string>();
  readonly #tokens = new Map<string, string>();
  #state: 'new' | 'greeted' | 'ready' = 'new';

  constructor(revision: Revision) {
    this.#revision = revision;
  }

  sent({ id, method, params }: Message): void {
    if (method !== undefined && id !== undefined) this.#asked.add(JSON.stringify(id));
    if (method === 'notifications/cancelled') this.#asked.delete(JSON.stringify(params.requestId));
    if (method !== undefined || id === undefined) return;
    this.#answered.add(JSON.stringify(id));
    this.#tokens.delete(JSON.stringify(id));
  }

  got(message: Message, report: Report): void {
    const { id, method, params } = message;
    if (Array.isArray(message)) return report('a batch reaches the server (JRPC-019)');
    if (method === undefined) {
      if (!this.#asked.delete(JSON.stringify(id))) report('an answer to no open question');
      if (message.result?.resultType !== undefined) report('an answer with resultType (MRTR-024)');
      return;
    }
    if (method === 'server/discover') return;
    for (const key of [VERSION, CAPABILITIES, CLIENT_INFO, LOG_LEVEL]) {
      if (params?._meta?.[key] !== undefined) report(`${key} reaches a legacy server`);
    }
    for (const member of ['inputResponses', 'requestState']) {
      if (params?.[member] !== undefined) report(`${member} reaches a legacy server`);
    }
    if (method === 'initialize') this.#state = 'greeted';
    else if (method === 'notifications/initialized') this.#state = 'ready';
    else if (this.#state !== 'ready') report(`${method} comes before the handshake is over (INIT-005)`);
    if (id === undefined) return;
    if (this.#used.has(JSON.stringify(id))) report('an id that was used before in this session (JRPC-005)');
    this.#used.add(JSON.stringify(id));
    if (params?.task !== undefined && this.#revision < '2025-11-25') report('a task before 2025-11-25');
    if (params?._meta?.progressToken === undefined) return;
    const token = JSON.stringify(params._meta.progressToken);
    if ([...this.#tokens.values()].includes(token)) report('a progress token that is in use (PROG-002)');
    this.#tokens.set(JSON.stringify(id), token);
  }
}

const MODERN_METHODS = new Set([
  'server/discover',
  'tools/list',
  'tools/call',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'subscriptions/listen',
]);

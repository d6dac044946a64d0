import { Child } from '../../support/child.js';
import type { Message } from '../../support/messages.js';
import { answer, type ClientKind, type Event, type Json, type User } from './witness.js';

/** No client at all: lines of JSON, written down as they come. */
export function raw(kind: Omit<ClientKind, 'connect'>): ClientKind {
  return {
    ...kind,
    async connect(address, user) {
      if ('url' in address) throw new Error('It speaks lines only');
      const [program, ...args] = address.args;
      const line = new Line(new Child(program!, { args }), user);
      const { era } = kind;
      const envelope = (params: Json, extra: Json): Json => ({
        ...params,
        _meta: { ...(params['_meta'] as Json), ...(era === 'modern' && modernMeta(user)), ...extra },
      });
      const opened =
        era === 'legacy'
          ? await line.request('initialize', {
              protocolVersion: '2025-11-25',
              capabilities: user.capabilities,
              clientInfo: CLIENT_INFO,
            })
          : await line.request('server/discover', envelope({}, {}));
      if (era === 'legacy') line.notify('notifications/initialized');
      line.events.length = 0;
      let logMeta: Json = {};
      return {
        era,
        opening: (opened.result ?? opened.error) as Json,
        events: line.events,
        late: line.late,
        async request(method, params, { progress, cancel } = {}) {
          const extra = { ...logMeta, ...(progress && { progressToken: line.nextToken() }) };
          const meta = Object.keys(extra).length > 0 || era === 'modern' || params['_meta'];
          await line.rounds(method, meta ? envelope(params, extra) : params, cancel ?? false);
        },
        async setLogLevel(level) {
          if (era === 'modern') logMeta = { 'io.modelcontextprotocol/logLevel': level };
          else await line.request('logging/setLevel', { level });
        },
        async watch(uri) {
          if (era === 'legacy') {
            await line.request('resources/subscribe', { uri });
            return;
          }
          const lists = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
          const notifications = { ...lists, resourceSubscriptions: [uri] };
          await line.listen(envelope({ notifications }, {}));
        },
        close: () => line.close(),
      };
    },
  };
}

class Line {
  readonly events: Event[] = [];
  /** What still came of requests that had been taken back. */
  readonly late: Event[] = [];
  readonly #child: Child;
  readonly #user: User;
  /** Progress tokens of requests that were taken back; true when the server must know by now. */
  readonly #cancelled = new Map<unknown, boolean>();
  #lastId = 0;
  #tokens = 0;
  #read = 0;
  #onMessage: (message: Message) => void = () => {};

  constructor(child: Child, user: User) {
    this.#child = child;
    this.#user = user;
    child.stdout.on('data', () => this.#take());
  }

  nextToken(): string {
    this.#tokens += 1;
    return `token ${this.#tokens}`;
  }

  notify(method: string, params?: Json): void {
    this.#child.send({ jsonrpc: '2.0', method, ...(params && { params }) });
  }

  request(method: string, params: Json): Promise<Message> {
    this.#lastId += 1;
    const id = this.#lastId;
    this.#child.send({ jsonrpc: '2.0', id, method, params });
    return this.#child.answer(id);
  }

  /** A request, and its repetition with answers for as long as the server asks for more. */
  async rounds(method: string, params: Json, cancel: boolean): Promise<void> {
    let { result } = await (cancel ? this.#takeBack(method, params) : this.request(method, params));
    while (result?.['resultType'] === 'input_required') {
      const { inputRequests = {}, requestState } = result as { inputRequests?: Json; requestState?: string };
      const inputResponses = Object.fromEntries(
        Object.entries(inputRequests as Record<string, { method: string; params?: Json }>).map(
          ([key, question]) => [key, answer(question.method, question.params ?? {}, this.#user)],
        ),
      );
      ({ result } = await this.request(method, {
        ...{ ...params, inputResponses },
        ...(requestState !== undefined && { requestState }),
      }));
    }
  }

  /** Resolves with nothing when no answer has come by the time that a later request is answered. */
  async #takeBack(method: string, params: Json): Promise<Message> {
    const passed = new Promise<Message>((resolve) => {
      this.#onMessage = (message) => {
        if (message.method !== 'notifications/progress') return;
        this.#onMessage = () => {};
        const token = message.params?.['progressToken'];
        this.#cancelled.set(token, false);
        this.notify('notifications/cancelled', { requestId: id, reason: 'enough' });
        void this.request('tools/list', params['_meta'] ? { _meta: params['_meta'] } : {}).then(() => {
          this.#cancelled.set(token, true);
          resolve({} as Message);
        });
      };
    });
    const answered = this.request(method, params);
    const id = this.#lastId;
    answered.catch(() => {});
    return Promise.race([answered, passed]);
  }

  async listen(params: Json): Promise<void> {
    this.#lastId += 1;
    const id = this.#lastId;
    this.#child.send({ jsonrpc: '2.0', id, method: 'subscriptions/listen', params });
    await this.#child.until('acknowledgement', () =>
      this.#child.messages.some(({ method }) => method === 'notifications/subscriptions/acknowledged'),
    );
  }

  async close(): Promise<void> {
    this.#child.end();
    // Some servers finish what was cancelled.
    this.#child.kill('SIGTERM');
    try {
      await this.#child.exit(15_000);
    } finally {
      await this.#child.reap();
    }
  }

  #take(): void {
    for (const message of this.#child.messages.slice(this.#read)) {
      this.#read += 1;
      const isLate = this.#cancelled.get(message.params?.['progressToken']);
      if (isLate) this.late.push({ message });
      if (isLate !== undefined) continue;
      const isQuestion = message.id !== undefined && message.method !== undefined;
      this.events.push({ message: isQuestion ? withoutIds(message) : message });
      if (isQuestion) {
        const result = answer(message.method!, (message.params ?? {}) as Json, this.#user);
        this.#child.send({ jsonrpc: '2.0', id: message.id, result });
      }
      this.#onMessage(message);
    }
  }
}

/** What the server counts for itself. */
function withoutIds({ params, ...question }: Message): Json {
  const { progressToken, ...meta } = (params?.['_meta'] ?? {}) as Json;
  const token = progressToken !== undefined && { progressToken: '(its own)' };
  const _meta = params?.['_meta'] ? { _meta: { ...meta, ...token } } : {};
  return { ...question, id: '(its own)', ...(params && { params: { ...params, ..._meta } }) };
}

const CLIENT_INFO = { name: 'witness', version: '1.0.0' };

function modernMeta({ capabilities }: User): Json {
  return {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': CLIENT_INFO,
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  };
}

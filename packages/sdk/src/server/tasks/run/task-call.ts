import { type Cancellation, LazyAbort } from '../../../async/abort.js';
import { cannotBeAsked } from '../../../era/input-rounds.js';
import type {
  Call,
  CallTask,
  ForeignNotification,
  Peer,
  RequestFacts,
  ServedSession,
} from '../../../exchange/call.js';
import { isJsonObject, isRequestId, type JsonObject, type RequestId } from '../../../wire/json-rpc.js';
import type {
  InputRequest,
  InputResponse,
  InputResponses,
  LogEntry,
  LoggingLevel,
  ProgressUpdate,
} from '../../../wire/model.js';
import { withRelatedTask } from '../project-task.js';
import type { RunningTask } from '../running-task.js';
import type { TaskChannel } from './task-channels.js';

/** A task that a call has become. */
export interface BegunTask {
  readonly running: RunningTask;
  /** The way to a legacy client at the moment. */
  channel(): TaskChannel | undefined;
}

/**
 * The call that the handler of a tool sees if the tool can run as a task: the plain call at first, and then the task. The
 * end of the plain request does not concern the handler any more once the call is a task.
 */
export class TaskCall implements Call {
  readonly method: string;
  readonly params: JsonObject;
  readonly peer: Peer;
  readonly task: CallTask;
  answers: InputResponses | undefined;
  state: unknown;
  readonly #plain: Call;
  readonly #abort = new LazyAbort();
  #begun: BegunTask | undefined;
  #request: RequestFacts | undefined;
  #id: RequestId | undefined;
  #number: number | undefined;
  #lastProgress = Number.NEGATIVE_INFINITY;
  /** Questions of the plain call. It cannot become a task meanwhile (TASK-M-023). */
  #plainQuestions = 0;
  #onQuiet: (() => void) | undefined;
  #becoming: Promise<unknown> | undefined;

  constructor(plain: Call, begin: CallTask['begin']) {
    this.#plain = plain;
    this.method = plain.method;
    this.params = plain.params;
    this.peer = plain.peer;
    this.answers = plain.answers;
    this.state = plain.state;
    const idOf = () => this.#begun?.running.id;
    this.task = {
      begin,
      say: (message) => this.#begun?.running.say(message),
      keep: (note) => this.#begun?.running.keep(note),
      get id() {
        return idOf();
      },
    };
    plain.cancellation.addEventListener('abort', () => {
      if (!this.#begun) this.#abort.abort(plain.cancellation.reason);
    });
  }

  /** The call is a task from now on. */
  becomes(begun: BegunTask): void {
    this.#id = this.#plain.id;
    this.#number = this.#plain.number;
    this.#request = this.#plain.request;
    this.#begun = begun;
    const { cancellation } = begun.running;
    cancellation.addEventListener('abort', () => this.#abort.abort(cancellation.reason));
    if (cancellation.aborted) this.#abort.abort(cancellation.reason);
  }

  /**
   * Creates the task when no question of the plain call is open. Questions that come meanwhile wait, and are questions of
   * the task.
   */
  async becoming<T>(create: () => Promise<T>): Promise<T> {
    const made = this.#quiet().then(create);
    this.#becoming = made;
    try {
      return await made;
    } finally {
      this.#becoming = undefined;
    }
  }

  /** The handler has ended: it does not wait for answers any more. */
  over(): void {
    this.#onQuiet?.();
  }

  #quiet(): Promise<void> {
    if (this.#plainQuestions === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onQuiet = resolve;
    });
  }

  get id(): RequestId | undefined {
    return this.#begun ? this.#id : this.#plain.id;
  }

  get number(): number | undefined {
    return this.#begun ? this.#number : this.#plain.number;
  }

  get request(): RequestFacts | undefined {
    return this.#begun ? this.#request : this.#plain.request;
  }

  get session(): ServedSession | undefined {
    return this.#plain.session;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get cancellation(): Cancellation {
    return this.#abort;
  }

  get logLevel(): LoggingLevel | undefined {
    return this.#begun && this.peer.era === 'modern' ? undefined : this.#plain.logLevel;
  }

  get wantsProgress(): boolean {
    return this.#begun !== undefined || this.#plain.wantsProgress;
  }

  /** TASK-M-062: a modern task has no progress, only a status. TASK-L-062: a legacy one has both. */
  progress(update: ProgressUpdate): void {
    if (!this.#begun) return this.#plain.progress(update);
    if (this.#abort.aborted || !(update.progress > this.#lastProgress)) return;
    this.#lastProgress = update.progress;
    const { running, channel } = this.#begun;
    running.say(statusOf(update));
    const progressToken = tokenOf(this.params);
    if (this.peer.era === 'modern' || progressToken === undefined || running.hasEnded) return;
    const params = withRelatedTask({ progressToken, ...update }, running.id);
    channel()?.notify({ method: 'notifications/progress', params });
  }

  /** TASK-M-062: the log lines of a modern task are dropped. */
  log(entry: LogEntry): void {
    if (!this.#begun) return this.#plain.log(entry);
    const { running, channel } = this.#begun;
    if (this.peer.era === 'legacy' && !running.hasEnded) channel()?.log(withRelatedTask(entry, running.id));
  }

  notify(notification: ForeignNotification): void {
    if (!this.#begun) return this.#plain.notify(notification);
    const { running, channel } = this.#begun;
    if (this.peer.era === 'modern' || running.hasEnded) return;
    channel()?.notify({ ...notification, params: withRelatedTask(notification.params, running.id) });
  }

  async ask(request: InputRequest, signal?: AbortSignal): Promise<InputResponse> {
    if (this.#becoming && !this.#begun) await this.#becoming.catch(() => {});
    if (!this.#begun) return this.#askPlainly(request, signal);
    const refusal = cannotBeAsked(request, this.peer);
    if (refusal) throw refusal;
    return this.#begun.running.ask(request, signal);
  }

  async #askPlainly(request: InputRequest, signal: AbortSignal | undefined): Promise<InputResponse> {
    this.#plainQuestions += 1;
    try {
      return await this.#plain.ask(request, signal);
    } finally {
      this.#plainQuestions -= 1;
      if (this.#plainQuestions === 0) this.#onQuiet?.();
    }
  }
}

function statusOf({ progress, total, message }: ProgressUpdate): string {
  const numbers = total === undefined ? `${progress}` : `${progress}/${total}`;
  return message === undefined ? numbers : `${numbers} ${message}`;
}

function tokenOf(params: JsonObject): RequestId | undefined {
  const meta = params['_meta'];
  const token = isJsonObject(meta) ? meta['progressToken'] : undefined;
  return isRequestId(token) ? token : undefined;
}

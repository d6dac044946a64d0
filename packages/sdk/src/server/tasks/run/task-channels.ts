import { IsthmusError, messageOf, ProtocolError } from '../../../errors.js';
import type { Call, ForeignNotification, Peer, ServedSession } from '../../../exchange/call.js';
import type { InputRequest, InputResponse, LogEntry } from '../../../wire/model.js';
import { changeTask } from '../change-task.js';
import type { TaskSettings } from '../options.js';
import { withRelatedTask } from '../project-task.js';
import { isFinished, type TaskAnswer, type TaskRecord } from '../store.js';

/** A way to a legacy client: the stream of a `tasks/result`, or the session that started the task. */
export interface TaskChannel {
  /** All channels of one session have the same peer. */
  readonly peer: Peer;
  isReachable(): boolean;
  ask(request: InputRequest, signal: AbortSignal): Promise<InputResponse>;
  notify(notification: ForeignNotification): void;
  log(entry: LogEntry): void;
}

export function channelOfSession(session: ServedSession): TaskChannel {
  return session;
}

export function channelOfCall(call: Call): TaskChannel {
  return {
    peer: call.peer,
    isReachable: () => !call.cancellation.aborted,
    ask: (request, signal) => call.ask(request, signal),
    notify: (notification) => call.notify(notification),
    log: (entry) => call.log(entry),
  };
}

/**
 * Sends a legacy client what belongs to its task. A question is asked on the newest channel that reaches the client, and
 * once in this process. If the channel is lost before the answer, the question is asked on another one. A client that has
 * lost its session may come back in a new one long before the old one ends: the question is withdrawn then, and asked there.
 */
export class TaskChannels {
  readonly #settings: TaskSettings;
  readonly #tasks = new Map<string, Channels>();

  constructor(settings: TaskSettings) {
    this.#settings = settings;
  }

  /** Adds a channel until the returned function is called. */
  open(id: string, channel: TaskChannel): () => void {
    const known: Channels = this.#tasks.get(id) ?? { channels: [], asking: new Map(), newest: 0 };
    this.#tasks.set(id, known);
    known.channels.push(channel);
    return () => {
      const index = known.channels.indexOf(channel);
      if (index >= 0) known.channels.splice(index, 1);
      if (known.channels.length > 0 || this.#tasks.get(id) !== known) return;
      this.#tasks.delete(id);
      for (const { control } of known.asking.values()) control.abort(LOST);
    };
  }

  /** The newest channel that reaches the client. */
  of(id: string): TaskChannel | undefined {
    return this.#tasks.get(id)?.channels.findLast((channel) => channel.isReachable());
  }

  /** Asks open questions that this process does not ask yet, and withdraws those that are not open any more. */
  offer(record: TaskRecord): void {
    const known = this.#tasks.get(record.id);
    // A request may have read the task before an answer was written.
    if (!known || record.revision < known.newest) return;
    known.newest = record.revision;
    const newest = this.of(record.id);
    for (const [key, { control, channel }] of known.asking) {
      const isOpen = Object.hasOwn(record.questions, key);
      if (isOpen && (!newest || newest.peer === channel.peer)) continue;
      known.asking.delete(key);
      const why = isOpen ? 'another session asks' : 'the task does not need the answer any more';
      control.abort(new IsthmusError('CANCELLED', why));
    }
    if (isFinished(record)) return;
    for (const [key, request] of Object.entries(record.questions)) {
      const channel = known.asking.has(key) ? undefined : newest;
      if (channel) void this.#ask(record.id, key, request, channel, known.asking);
    }
  }

  async #ask(
    id: string,
    key: string,
    request: InputRequest,
    channel: TaskChannel,
    asking: Map<string, Asking>,
  ): Promise<void> {
    const control = new AbortController();
    const own = { control, channel };
    asking.set(key, own);
    const answer = await this.#answer(id, request, channel, control.signal);
    if (control.signal.aborted && control.signal.reason !== LOST) return;
    try {
      const record = answer
        ? await changeTask(this.#settings, id, (known) => answered(known, { [key]: answer }))
        : await this.#settings.store.get(id);
      // Only now: until the answer is written, the question looks open.
      if (asking.get(key) === own) asking.delete(key);
      if (!record) return;
      // A channel that refuses a question would refuse it again at once.
      if (answer || this.of(id) !== channel) return this.offer(record);
      this.#settings.clock.after(AGAIN_MS, () => this.offer(record), { background: true });
    } catch {
      // The question stays open. The next call of the client for this task offers it again.
      if (asking.get(key) === own) asking.delete(key);
    }
  }

  /** Undefined: the channel was lost, and the client may still answer on another one. */
  async #answer(
    id: string,
    request: InputRequest,
    channel: TaskChannel,
    signal: AbortSignal,
  ): Promise<TaskAnswer | undefined> {
    try {
      const params = withRelatedTask(request.params ?? {}, id);
      return { response: await channel.ask({ ...request, params } as InputRequest, signal) };
    } catch (error) {
      return isLost(error) ? undefined : { refusal: messageOf(error) };
    }
  }
}

/** The channels of one task, and its questions that are asked on them. */
interface Channels {
  readonly channels: TaskChannel[];
  readonly asking: Map<string, Asking>;
  /** The newest revision of the task that was offered. */
  newest: number;
}

/** A question that is being asked. */
interface Asking {
  readonly control: AbortController;
  readonly channel: TaskChannel;
}

const AGAIN_MS = 1000;
const LOST = new IsthmusError('CONNECTION_CLOSED', 'the channel of the task is closed');

function isLost(error: unknown): boolean {
  if (error instanceof ProtocolError || !(error instanceof IsthmusError)) return false;
  return error.code === 'CONNECTION_CLOSED' || error.code === 'CANCELLED' || error.code === 'BUSY';
}

/** Answers to questions that are open. Others are ignored (TASK-M-045). Undefined: none of them is open. */
export function answered(record: TaskRecord, answers: Readonly<Record<string, TaskAnswer>>) {
  const open = Object.entries(record.questions);
  const left = open.filter(([key]) => !Object.hasOwn(answers, key));
  if (left.length === open.length) return undefined;
  const given = open.flatMap(([key]) => (Object.hasOwn(answers, key) ? [[key, answers[key]!] as const] : []));
  return {
    questions: Object.fromEntries(left),
    answers: { ...record.answers, ...Object.fromEntries(given) },
    status: left.length === 0 ? ('working' as const) : ('input_required' as const),
  };
}

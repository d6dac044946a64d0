import type { Clock } from '../../async/clock.js';
import { TASKS_EXTENSION, takesTasks } from '../../era/extensions.js';
import type { Call, ForeignChange, HandledResult, Peer, Serving, TaskWatch } from '../../exchange/call.js';
import { resolveTasks, type TaskOptions, type TaskPlan } from '../../server/tasks/options.js';
import type { TaskRecord } from '../../server/tasks/store.js';
import { TASK_METHODS } from '../../server/tasks/task-methods.js';
import { hasLegacyTasks } from '../../server/tasks/task-request.js';
import { TaskRunner } from '../../server/tasks/task-runner.js';
import { watchTasks } from '../../server/tasks/watch-tasks.js';
import type { JsonObject } from '../../wire/json-rpc.js';
import type { ServerCapabilities } from '../../wire/model.js';
import type { ForwardContext } from '../forwarded-call.js';
import { isTaskSupport, type UpstreamFacts } from '../upstream-facts.js';
import { readKept, type UpstreamTask } from './task-note.js';

/** How a bridge gives tasks to its clients. */
export interface BridgeTaskSettings {
  /** A call that runs longer becomes a task, if the client takes one. Undefined: only tasks of the server do. */
  readonly promoteAfterMs: number | undefined;
  readonly options: TaskOptions | undefined;
  readonly clock: Clock;
  /** Names the server, if it does not end with this process. */
  readonly place: string | undefined;
  /** Follows a task of the server that another process has begun. */
  resume(task: UpstreamTask, call: Call): Promise<JsonObject>;
}

/**
 * The tasks of the clients of a bridge. They belong to the bridge in every combination of eras: the two forms of tasks are
 * different protocols, the ids of a server that principals share are no secret between them, and a server that has no
 * tasks can be given some. What the upstream does meanwhile, a task of its own or a plain call, its client does not see.
 */
export class BridgeTasks {
  readonly #settings: BridgeTaskSettings;
  readonly #runner: TaskRunner;

  constructor(settings: BridgeTaskSettings) {
    this.#settings = settings;
    const { clock, options, place } = settings;
    this.#runner = new TaskRunner(resolveTasks({ clock, ...options }), ({ note, owner }) => {
      const kept = readKept(note, owner, place);
      return kept && { peer: kept.peer, follow: (call) => settings.resume(kept.task, call) };
    });
  }

  /** Goes on with a task whose process has ended, or fails it. */
  async recover(record: TaskRecord): Promise<void> {
    await this.#runner.abandoned(record.id);
  }

  /** Handles what concerns tasks. Undefined: the call is a plain one. */
  handle(
    call: Call,
    context: ForwardContext,
    forward: (call: Call) => HandledResult,
  ): HandledResult | undefined {
    const { method, params, peer } = call;
    if (method !== 'tools/call') return TASK_METHODS.get(method)?.(this.#runner, call);
    const takesTask =
      peer.era === 'modern'
        ? takesTasks(peer.capabilities)
        : params['task'] !== undefined && hasLegacyTasks(peer);
    if (!takesTask) return undefined;
    const plan = this.#planOf(call, context);
    return this.#runner.run(call, plan, async (each) => (await forward(each)) as JsonObject);
  }

  watchTasks(
    peer: Peer,
    ids: readonly string[],
    onChange: (change: ForeignChange) => void,
  ): Promise<TaskWatch> {
    return watchTasks(this.#runner, peer, ids, onChange);
  }

  serving(): Serving {
    return this.#runner.serving();
  }

  /** Undefined: the tool does not run as a task. */
  #planOf({ params, peer }: Call, { upstream, tools }: ForwardContext): TaskPlan | undefined {
    const { promoteAfterMs } = this.#settings;
    // A modern server decides for each call. A bridge that follows its task begins one for the client.
    if (upstream.tasks === 'extension') return { ...ALLOWED, afterMs: promoteAfterMs };
    if (upstream.tasks === 'legacy') {
      const support = tools.taskSupport(params['name'], peer.principal);
      // The list may have been read before this process began.
      const isUnknown = !tools.isKnown(peer.principal);
      if (support !== undefined || (isUnknown && peer.era === 'legacy')) return { ...ALLOWED, afterMs: 0 };
      // The list is read then, and the task begins if the server has begun one.
      if (isUnknown) return { ...ALLOWED, afterMs: promoteAfterMs };
    }
    return promoteAfterMs === undefined ? undefined : { ...ALLOWED, afterMs: promoteAfterMs };
  }
}

const ALLOWED = { mode: 'allowed', ttlMs: undefined, pollIntervalMs: undefined } as const;

/** Adds the capabilities for tasks of the bridge, in the forms of both eras. */
export function withTaskCapabilities(capabilities: ServerCapabilities): ServerCapabilities {
  return {
    ...capabilities,
    tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
    extensions: { ...capabilities.extensions, [TASKS_EXTENSION]: {} },
  };
}

/** The `taskSupport` that a client is shown of a tool. `promotes`: undefined if the bridge has no tasks. */
export function shownSupport(
  support: unknown,
  peer: Peer,
  upstream: UpstreamFacts,
  promotes: boolean | undefined,
): unknown {
  if (!hasLegacyTasks(peer)) return undefined;
  if (promotes === undefined) return isTaskSupport(support) ? undefined : support;
  if (isTaskSupport(support)) return support;
  // The bridge can run every tool of these servers as a task.
  return upstream.tasks === 'extension' || promotes ? 'optional' : support;
}

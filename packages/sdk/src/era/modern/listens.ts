import { IsthmusError, ProtocolError } from '../../errors.js';
import type { Change, OpenListen, Peer, Service, TaskWatch } from '../../exchange/call.js';
import type { Connection } from '../../exchange/connection.js';
import type { InboundCall } from '../../exchange/inbound-calls.js';
import { ErrorCode } from '../../wire/error-codes.js';
import { isJsonObject, type JsonObject, notificationMessage } from '../../wire/json-rpc.js';
import type { ServerCapabilities, SubscriptionFilter } from '../../wire/model.js';
import { hasTasks, takesTasks, tasksRequired } from '../extensions.js';
import { META } from '../meta-keys.js';
import { notificationOf, urisProblem, WaitingChanges } from '../subscriptions.js';

/**
 * The open `subscriptions/listen` requests of one connection. Each is acknowledged before anything else is sent for it,
 * gets only the changes that it asked for and that the server has, and has its own id in every message.
 */
export class Listens {
  readonly #connection: Connection;
  readonly #service: Service;
  readonly #max: number;
  readonly #open = new Set<Listen>();
  readonly #onEnded: (inbound: InboundCall, result: Closing) => void;
  #unwatch: (() => void) | undefined;

  /** `onEnded` is called for subscriptions that the service has ended. */
  constructor(
    connection: Connection,
    service: Service,
    max: number,
    onEnded: (inbound: InboundCall, result: Closing) => void,
  ) {
    this.#connection = connection;
    this.#service = service;
    this.#max = max;
    this.#onEnded = onEnded;
  }

  /** Opens a subscription: at once, or, if the service opens it upstream, when the upstream has answered. */
  open(inbound: InboundCall, params: JsonObject, peer: Peer): Promise<void> | undefined {
    const asked = readFilter(params['notifications']);
    if (this.#open.size >= this.#max) {
      throw new IsthmusError('BUSY', `This connection already has ${this.#max} open subscriptions`);
    }
    const capabilities = this.#service.capabilities();
    // TASK-M-007
    if (asked.taskIds && hasTasks(capabilities) && !takesTasks(peer.capabilities)) throw tasksRequired();
    const filter = honour(asked, capabilities, this.#service.listen !== undefined);
    const listen: Listen = { inbound, filter, uris: undefined, overdue: undefined, stop: undefined };
    this.#open.add(listen);
    inbound.running = { cancel: () => this.#remove(listen) };
    if (this.#service.listen) {
      const facts = this.#connection.factsOf?.(inbound.id);
      const { scopes, clientId } = facts ?? {};
      return this.#openUpstream(listen, scopes || clientId ? { ...peer, scopes, clientId } : peer);
    }
    if (asked.taskIds && this.#service.watchTasks && hasTasks(capabilities)) {
      return this.#openWithTasks(listen, peer, asked.taskIds);
    }
    this.#begin(listen, filter);
    return undefined;
  }

  #begin(listen: Listen, filter: SubscriptionFilter): void {
    this.#acknowledge(listen, filter);
    this.#unwatch ??= this.#service.watch(
      (change) => this.#publish(change),
      () => this.#publishAll(),
    );
  }

  /** TASK-M-063: tasks that the client may not see are left out of the acknowledgement. */
  async #openWithTasks(listen: Listen, peer: Peer, ids: readonly string[]): Promise<void> {
    let watch: TaskWatch;
    try {
      watch = await this.#service.watchTasks!(peer, ids, (change) => {
        if (this.#open.has(listen)) this.#deliver(listen, change);
      });
    } catch (error) {
      if (this.#open.has(listen)) this.#remove(listen);
      throw error;
    }
    if (!this.#open.has(listen)) return;
    listen.stop = watch.stop;
    const taskIds = [...watch.accepted];
    this.#begin(listen, { ...listen.filter, ...(taskIds.length > 0 && { taskIds }) });
    watch.start();
  }

  async #openUpstream(listen: Listen, peer: Peer): Promise<void> {
    // Changes before the acknowledgement wait for it (SUB-005).
    let isAcknowledged = false;
    const early: Change[] = [];
    const onChange = (change: Change) => {
      if (!this.#open.has(listen)) return;
      if (!isAcknowledged) early.push(change);
      // The upstream filters resources: an update may name a sub-resource of the subscribed one (SUB-016).
      else if (change.kind === 'resource' || wants(listen, change)) this.#deliver(listen, change);
    };
    let open: OpenListen;
    try {
      open = await this.#service.listen!(peer, listen.filter, onChange);
    } catch (error) {
      if (this.#open.has(listen)) this.#remove(listen);
      throw error;
    }
    if (!this.#open.has(listen)) return open.stop();
    listen.stop = open.stop;
    this.#acknowledge(listen, open.honoured);
    isAcknowledged = true;
    for (const change of early) onChange(change);
    void open.ended.then(() => {
      if (!this.#open.has(listen)) return;
      this.#remove(listen);
      this.#onEnded(listen.inbound, closing(listen));
    });
  }

  #acknowledge(listen: Listen, honoured: SubscriptionFilter): void {
    listen.filter = honoured;
    const { resourceSubscriptions: uris = [] } = honoured;
    if (uris.length > 0) listen.uris = new Set(uris);
    this.#connection.send(
      notificationMessage('notifications/subscriptions/acknowledged', {
        _meta: { [META.subscriptionId]: listen.inbound.id },
        notifications: honoured,
      }),
    );
  }

  /** The output has room again: sends the changes that were held back, each once. */
  drained(): void {
    for (const listen of this.#open) {
      const { overdue } = listen;
      listen.overdue = undefined;
      for (let change = overdue?.take(); change; change = overdue?.take()) this.#deliver(listen, change);
    }
  }

  /** Ends all subscriptions, and returns their requests and results for the dialect to answer (SUB-012, SUB-013). */
  closeAll(): { inbound: InboundCall; result: Closing }[] {
    const ended = [...this.#open].map((listen) => ({ inbound: listen.inbound, result: closing(listen) }));
    for (const listen of [...this.#open]) this.#remove(listen);
    return ended;
  }

  #remove(listen: Listen): void {
    this.#open.delete(listen);
    listen.stop?.();
    if (this.#open.size > 0) return;
    this.#unwatch?.();
    this.#unwatch = undefined;
  }

  #publish(change: Change): void {
    for (const listen of this.#open) {
      if (wants(listen, change)) this.#deliver(listen, change);
    }
  }

  /** Changes may have been missed: each subscription is told that all it asked for may have changed. */
  #publishAll(): void {
    for (const listen of this.#open) {
      for (const kind of LISTS) if (wants(listen, { kind })) this.#deliver(listen, { kind });
      for (const uri of listen.uris ?? []) this.#deliver(listen, { kind: 'resource', uri });
    }
  }

  #deliver(listen: Listen, change: Change): void {
    if (this.#connection.congested) {
      listen.overdue ??= new WaitingChanges();
      listen.overdue.keep(change);
      return;
    }
    const { method, params } = notificationOf(change);
    const own = params['_meta'];
    const _meta = { ...(isJsonObject(own) && own), [META.subscriptionId]: listen.inbound.id };
    this.#connection.send(notificationMessage(method, { ...params, _meta }));
  }
}

interface Listen {
  readonly inbound: InboundCall;
  filter: SubscriptionFilter;
  /** Undefined if there are none. */
  uris: ReadonlySet<string> | undefined;
  /** Changes that wait for room in the output, so that a stalled reader costs bounded memory. */
  overdue: WaitingChanges | undefined;
  /** Ends the subscription upstream. */
  stop: (() => void) | undefined;
}

/** The result that ends a subscription. */
interface Closing {
  readonly _meta: JsonObject;
}

function closing({ inbound }: Listen): Closing {
  return { _meta: { [META.subscriptionId]: inbound.id } };
}

const LISTS = ['tools', 'prompts', 'resources'] as const;
const FLAGS = ['toolsListChanged', 'promptsListChanged', 'resourcesListChanged'] as const;

function readFilter(value: unknown): SubscriptionFilter {
  if (!isJsonObject(value)) throw invalid('params.notifications must be an object');
  for (const flag of FLAGS) {
    if (value[flag] !== undefined && typeof value[flag] !== 'boolean') {
      throw invalid(`params.notifications.${flag} must be a boolean`);
    }
  }
  const uris = value['resourceSubscriptions'];
  if (uris !== undefined && !(Array.isArray(uris) && uris.every((uri) => typeof uri === 'string'))) {
    throw invalid('params.notifications.resourceSubscriptions must be an array of URIs');
  }
  const { taskIds } = value;
  if (taskIds !== undefined && !(Array.isArray(taskIds) && taskIds.every((id) => typeof id === 'string'))) {
    throw invalid('params.notifications.taskIds must be an array of strings');
  }
  const problem =
    uris &&
    urisProblem(
      uris.length,
      uris.reduce((sum, uri) => sum + uri.length, 0),
    );
  if (problem) throw invalid(`params.notifications.resourceSubscriptions: ${problem}`);
  return value as SubscriptionFilter;
}

/** SUB-006: the acknowledged subset, without what the server does not support. An upstream decides on unknown members. */
function honour(
  asked: SubscriptionFilter,
  has: ServerCapabilities,
  isForUpstream: boolean,
): SubscriptionFilter {
  const { toolsListChanged, promptsListChanged, resourcesListChanged, resourceSubscriptions, ...unknown } =
    asked;
  const uris = has.resources?.subscribe ? (resourceSubscriptions ?? []) : [];
  return {
    ...(isForUpstream && unknown),
    ...(toolsListChanged && has.tools?.listChanged && { toolsListChanged: true }),
    ...(promptsListChanged && has.prompts?.listChanged && { promptsListChanged: true }),
    ...(resourcesListChanged && has.resources?.listChanged && { resourcesListChanged: true }),
    ...(uris.length > 0 && { resourceSubscriptions: [...new Set(uris)] }),
  };
}

function wants({ filter, uris }: Listen, change: Change): boolean {
  switch (change.kind) {
    case 'tools':
      return filter.toolsListChanged === true;
    case 'prompts':
      return filter.promptsListChanged === true;
    case 'resources':
      return filter.resourcesListChanged === true;
    case 'resource':
      return uris?.has(change.uri) ?? false;
    case 'foreign':
      // TASK-M-060: a task only if it was acknowledged. Of other extensions, the upstream decides.
      return (
        change.method !== 'notifications/tasks' ||
        (filter.taskIds ?? []).includes(String(change.params['taskId']))
      );
  }
}

function invalid(message: string): ProtocolError {
  return new ProtocolError(ErrorCode.InvalidParams, message);
}

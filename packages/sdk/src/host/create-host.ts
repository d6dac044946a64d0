import { isDeepStrictEqual } from 'node:util';
import { checkedOptions, type OptionNames } from '../arguments.js';
import { type Clock, systemClock, within } from '../async/clock.js';
import type { Client } from '../client/client.js';
import type { Upstream } from '../client/connect.js';
import { type EraCache, fileEraCache } from '../client/negotiation/era-cache.js';
import type { Servers } from '../config/read-servers.js';
import { tell } from '../era/client-dialect-context.js';
import { IsthmusError } from '../errors.js';
import { events } from '../events.js';
import type { Tap } from '../exchange/tap.js';
import { createDeathWatch } from '../process/death-watch.js';
import { createLedger } from '../process/ledger/ledger.js';
import { VERSION } from '../version.js';
import type { Implementation } from '../wire/model.js';
import type { ConversationOptions } from './conversation.js';
import { resolveDefinition } from './definition.js';
import type { HostEvent, HostOccurrence } from './host-event.js';
import { checkServers, type HostedDefinition, type HostServers } from './host-servers.js';
import { type HostTools, type HostToolsOptions, openHostTools } from './host-tools.js';
import { HostedServer } from './hosted-server.js';
import { CallSemaphore } from './process/call-semaphore.js';
import type { HostContext } from './process/process-factory.js';
import { RemoteServer } from './remote-server.js';
import type { HostStatus, ServerStatus } from './status.js';

/** The servers of a host, and its limits. */
export interface HostOptions {
  /** Commands, URLs and sockets by name, as programs write them, or what `readServers` returns. */
  readonly servers?: HostServers | Servers;
  /** How many processes all servers may have at once. Default 64. */
  readonly maxProcesses?: number;
  /** The client that the servers see. */
  readonly info?: Implementation;
  /** Where the eras of servers are kept between runs. Default: a file of the user. `false`: nowhere. */
  readonly cache?: EraCache | false;
  /**
   * The folder in which the host records its processes. If this host and its death watch are killed, the next host ends
   * them. `false`: no record. Default: the state folder of the user.
   */
  readonly ledger?: string | false;
  /** Sees what goes over the connections of the processes of each server. */
  readonly tap?: (server: string) => Tap;
  readonly clock?: Clock;
  /** Returns a number between 0 and 1, for the jitter of restarts. */
  readonly random?: () => number;
}

/** Owns the server processes of an application: conversations share them, the host restarts them and ends them. */
export interface Host extends AsyncDisposable {
  /** A client of the named server. Its first call starts the process. Closing the client does not end the process. */
  conversation(server: string, options?: ConversationOptions): Client;
  /** The named server as the upstream of a bridge. Its definition says which clients share a process. */
  upstream(server: string): Upstream;
  /**
   * The tools of all servers as one list, with names that LLM APIs allow. `isthmus/llm` hands them to the APIs of
   * Anthropic and OpenAI, and to the AI SDK.
   */
  tools(options?: HostToolsOptions): Promise<HostTools>;
  /** Starts a server now. Rejects with the reason when that fails. */
  start(server: string): Promise<void>;
  /** Ends the processes when their calls in flight are done, and starts new ones. Also ends a crash loop. */
  restart(server: string): Promise<void>;
  /** Ends the processes when their calls in flight are done. Conversations stay open; their calls fail until `enable`. */
  disable(server: string): Promise<void>;
  enable(server: string): Promise<void>;
  /**
   * Replaces the list of servers. New servers are added and missing ones closed. The processes of changed servers are
   * replaced when their calls in flight are done. Servers that did not change are not touched.
   */
  configure(servers: HostServers | Servers): Promise<void>;
  status(): Promise<HostStatus>;
  /** The status of one server. Undefined: there is no such server. */
  statusOf(server: string): Promise<ServerStatus | undefined>;
  /** The current status of one server, at once, without `facts`. Undefined: there is no such server. */
  snapshot(server: string): ServerStatus | undefined;
  /** Whether a process of the server waits before it is started again. Cheap enough to ask before each call. */
  isBackingOff(server: string): boolean;
  /** Calls `onEvent` for everything that happens to the processes, until the returned function is called. */
  watch(onEvent: (event: HostEvent) => void): () => void;
  /** Ends all processes. With `drainMs`, calls in flight may take that long. A second call is harmless. */
  close(options?: { readonly drainMs?: number }): Promise<void>;
}

/**
 * Makes a host. It starts a server when it is first used, restarts it after a crash, and ends it with the application.
 *
 * @example
 * ```ts
 * import { createHost } from '@isthmus/sdk';
 *
 * const host = createHost({ servers: { hello: { command: 'node', args: ['server.js'] } } });
 * const chat = host.conversation('hello');
 * const { content } = await chat.callTool('hello');
 * console.log(content); // prints: [ { type: 'text', text: 'Hello!' } ]
 * await host.close();
 * ```
 */
export function createHost(options: HostOptions = {}): Host {
  checkedOptions('createHost', options, HOST_OPTIONS, (_, value) =>
    isDefinition(value) ? '; put the servers into "servers"' : undefined,
  );
  const { clock = systemClock, maxProcesses = 64 } = options;
  if (!(Number.isSafeInteger(maxProcesses) && maxProcesses > 0)) {
    throw new IsthmusError(
      'INVALID_OPTION',
      `maxProcesses must be a positive whole number, got ${maxProcesses}`,
    );
  }
  const watchers = new Set<(event: HostEvent) => void>();
  const emit = (server: string, occurrence: HostOccurrence) => {
    if (watchers.size === 0 && !events.host.hasSubscribers) return;
    const event: HostEvent = { ...occurrence, server, at: clock.now() };
    events.host.publish(event);
    for (const watcher of [...watchers]) tell('watch', watcher, event);
  };
  const deathWatch = createDeathWatch({ clock });
  const ledger =
    options.ledger === false
      ? undefined
      : createLedger(options.ledger === undefined ? {} : { folder: options.ledger });
  const reaping = (async () => {
    for (const { pid, gone } of (await ledger?.reap()) ?? []) emit('', { kind: 'reaped', pid, gone });
  })().catch(() => {});
  const context: HostContext = {
    clock,
    random: options.random ?? Math.random,
    info: options.info ?? { name: 'isthmus', version: VERSION },
    cache: options.cache === false ? undefined : (options.cache ?? fileEraCache()),
    watchers: ledger ? [deathWatch, ledger] : [deathWatch],
    tap: options.tap,
    processSlots: new CallSemaphore('The host', maxProcesses, Number.POSITIVE_INFINITY),
    prepared: within(systemClock, PREPARE_MS, reaping),
  };
  const servers = new Map<string, HostedServer | RemoteServer>();
  /** Servers that are no longer configured and still have calls in flight. */
  const leaving = new Set<HostedServer | RemoteServer>();
  const add = (checked: HostedDefinition) => {
    const { name } = checked;
    const emitOf = (occurrence: HostOccurrence) => emit(name, occurrence);
    const server =
      checked.kind === 'remote'
        ? new RemoteServer(checked.spec, context, emitOf)
        : new HostedServer(name, checked.definition, context, emitOf);
    servers.set(name, server);
  };
  const remove = (name: string, server: HostedServer | RemoteServer): Promise<void> => {
    servers.delete(name);
    leaving.add(server);
    return server.close(DRAIN_MS).finally(() => leaving.delete(server));
  };
  const get = (name: string): HostedServer | RemoteServer => {
    const server = servers.get(name);
    if (server) return server;
    const known = servers.size > 0 ? `there are ${[...servers.keys()].join(', ')}` : 'there are none';
    throw new IsthmusError('INVALID_OPTION', `There is no server ${JSON.stringify(name)}; ${known}`);
  };
  let closing: Promise<void> | undefined;
  const checkOpen = () => {
    if (closing) throw new IsthmusError('CONNECTION_CLOSED', 'The host is closed', { sent: 'no' });
  };
  // All definitions are checked before the first server starts.
  const first = checkServers(options.servers ?? {});

  const close = async (drainMs: number): Promise<void> => {
    await Promise.all([...servers.values(), ...leaving].map((server) => server.close(drainMs)));
    ledger?.close();
    await deathWatch.close();
  };
  for (const checked of first) add(checked);
  const host: Host = {
    conversation(name, conversation = {}) {
      checkOpen();
      return get(name).conversation(conversation);
    },
    upstream(name) {
      checkOpen();
      return get(name).upstream();
    },
    async tools(given = {}) {
      checkOpen();
      const { servers: wanted, ...conversation } = checkedOptions('host.tools', given, TOOLS_OPTIONS);
      const names = wanted ?? [...servers.keys()].filter((name) => get(name).snapshot().enabled);
      return openHostTools(names, (name) => get(name).conversation(conversation));
    },
    async start(name) {
      checkOpen();
      await get(name).start();
    },
    async restart(name) {
      checkOpen();
      await get(name).restart();
    },
    async disable(name) {
      checkOpen();
      await get(name).disable();
    },
    async enable(name) {
      checkOpen();
      await get(name).enable();
    },
    async configure(given) {
      checkOpen();
      const wanted = checkServers(given);
      const names = new Set(wanted.map(({ name }) => name));
      const changes: Promise<void>[] = [];
      for (const [name, server] of [...servers]) if (!names.has(name)) changes.push(remove(name, server));
      for (const checked of wanted) {
        const known = servers.get(checked.name);
        if (known && isSameKind(known, checked)) changes.push(change(known, checked));
        else {
          // A command that became a URL, or the reverse: its conversations end.
          if (known) changes.push(remove(checked.name, known));
          add(checked);
        }
      }
      await Promise.all(changes);
    },
    async status() {
      const all = await Promise.all(
        [...servers].map(async ([name, server]) => [name, await server.status()] as const),
      );
      return { servers: Object.fromEntries(all), processes: context.processSlots.taken, maxProcesses };
    },
    statusOf: async (name) => servers.get(name)?.status(),
    snapshot: (name) => servers.get(name)?.snapshot(),
    isBackingOff: (name) => servers.get(name)?.isBackingOff ?? false,
    watch(onEvent) {
      watchers.add(onEvent);
      return () => watchers.delete(onEvent);
    },
    close({ drainMs = 0 } = {}) {
      closing ??= close(drainMs);
      return closing;
    },
    [Symbol.asyncDispose]: () => host.close(),
  };
  return host;
}

function isSameKind(server: HostedServer | RemoteServer, checked: HostedDefinition): boolean {
  return server instanceof RemoteServer === (checked.kind === 'remote');
}

/** Takes another definition of the same kind over, if it differs. */
async function change(server: HostedServer | RemoteServer, checked: HostedDefinition): Promise<void> {
  if (server instanceof RemoteServer) {
    if (checked.kind === 'remote' && !server.has(checked.spec)) await server.configure(checked.spec);
    return;
  }
  if (checked.kind !== 'command') return;
  const { name, definition } = checked;
  if (!isDeepStrictEqual(server.settings, resolveDefinition(name, definition)))
    await server.configure(definition);
}

const TOOLS_OPTIONS: OptionNames<HostToolsOptions> = {
  servers: true,
  answers: true,
  principal: true,
  info: true,
  onLog: true,
  timeoutMs: true,
};

const HOST_OPTIONS: OptionNames<HostOptions> = {
  servers: true,
  maxProcesses: true,
  info: true,
  cache: true,
  ledger: true,
  tap: true,
  clock: true,
  random: true,
};

function isDefinition(value: unknown): boolean {
  return typeof value === 'object' && value !== null && ('command' in value || 'url' in value);
}

/** How long servers wait until processes of earlier hosts are gone. */
const PREPARE_MS = 5000;
/** How long calls of a server may take that is no longer configured. */
const DRAIN_MS = 30_000;

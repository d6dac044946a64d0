import type { LogRow } from '@isthmus/console';
import {
  type GatewayConsole,
  openGatewayConsole,
} from '@isthmus/console/internal/gateway/open-gateway-console.js';
import type { LogLine } from '@isthmus/gateway/internal/control/index.js';
import type { LiveWatcher } from '@isthmus/gateway/internal/live/live-watcher.js';
import type { ConsoleSource, OpenedConsole } from '@isthmus/gateway/internal/run-gateway.js';
import type { GatewayServerSpec } from '@isthmus/gateway/internal/server-definition.js';
import type { GatewayStatus } from '@isthmus/gateway/internal/server-state.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import type { HostEvent } from '@isthmus/sdk/internal/host/host-event.js';
import { LEVELS_UP_TO } from './console-levels.js';
import type { ConsoleSignIn } from './console-sign-in.js';
import { toDetail, toServerSettings, toStatusFacts } from './gateway-facts.js';
import { judgeMessage } from './judge-message.js';

export interface ServeConsoleOptions {
  /** Default 127.0.0.1 and a free port. */
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly mayRecord: boolean;
  readonly files: readonly string[];
  /** Whether the clients of the gateway are authenticated. */
  readonly hasPrincipals: boolean;
  /** How clients of the gateway are authenticated, in words. */
  readonly auth: readonly string[];
  /** How operators enter without a link. */
  readonly signIn?: ConsoleSignIn | undefined;
  /** Names besides the loopback ones that browsers use for it. */
  readonly names?: readonly string[] | undefined;
  /** Proxies that are believed when they say who asks. */
  readonly trustProxy?: readonly string[] | undefined;
}

/** Opens the console of a gateway, and shows it the traffic from now on. */
export async function openServeConsole(
  source: ConsoleSource,
  options: ServeConsoleOptions,
): Promise<OpenedConsole> {
  const { gateway, controlled, live, redactor, warnings, note, entered } = source;
  const { files, auth, mayRecord } = options;
  const console = await openGatewayConsole({
    host: options.host,
    port: options.port,
    redactor,
    judge: judgeMessage,
    names: options.names,
    signIn: options.signIn && {
      ...options.signIn,
      authenticate: (given) => options.signIn!.authenticate(given, gateway.coversScopes),
    },
    trustProxy: options.trustProxy,
    view: {
      status: async () => toStatusFacts(await controlled.status()),
      async detail(name) {
        const { servers } = await controlled.status();
        return toDetail(servers[name]!, gateway.unit(name).definition, Date.now());
      },
      restart: (name) => controlled.restart(name),
      stop: (name) => controlled.stop(name),
      start: (name) => controlled.start(name),
      async reload() {
        const { problem, ...report } = await controlled.reload();
        return { ...report, ...(problem !== undefined && { problem }) };
      },
      callerLimit(server) {
        const spec = gateway.definitions.find(({ name }) => name === server);
        return spec?.limits?.maxConcurrentPerCaller;
      },
      settings: () => ({
        files,
        problems:
          gateway.configProblem === undefined ? [] : [{ message: redactor.text(gateway.configProblem) }],
        // What keeps a server at its earlier definition is a problem already.
        warnings: warnings()
          .filter((line) => !gateway.configProblem?.includes(line))
          .map((line) => redactor.text(line)),
        servers: gateway.definitions.map(toServerSettings),
        listening: gateway.addresses,
        auth,
      }),
      logs: (signal) => toRows(controlled.logs(undefined, { lines: 1000, follow: true }, signal)),
      async snippet(facts) {
        const url = addressOf(facts.server, await controlled.status());
        const headers: Record<string, string> = options.hasPrincipals ? { Authorization: '' } : {};
        const { snippetFor } = await import('../inspect/snippets.js');
        return snippetFor(facts, { kind: 'url', name: facts.server!, url, transport: 'auto', headers });
      },
      service: (name) => gateway.unit(name).service,
      principalFor: (name, who) => principalFor(gateway.unit(name).definition, who, options.hasPrincipals),
      clean: (text) => (/^\s*[{[]/.test(text) ? redactor.json(text) : redactor.text(text)),
      mayRecord,
      note,
      entered,
    },
  });
  live.watch(watcherFor(console, (text) => redactor.text(text)));
  return {
    link: (access) => console.link(LEVELS_UP_TO[access]),
    async close() {
      live.watch(undefined);
      await console.close();
    },
  };
}

/** The address at which clients reach a server of the gateway. */
function addressOf(name: string | undefined, { listening, servers }: GatewayStatus): string {
  const path = name === undefined ? undefined : servers[name]?.paths[0];
  if (path === undefined)
    throw new IsthmusError('INVALID_OPTION', '"server" is missing: the gateway has several');
  const base = listening.find((address) => address.startsWith('http'));
  if (base === undefined)
    throw new IsthmusError('INVALID_OPTION', 'The gateway has no HTTP address: copy it as JSON-RPC instead');
  return new URL(path, base).href;
}

/** A process that is shared serves one principal. A person of the console must not take it from the clients. */
function principalFor(spec: GatewayServerSpec, who: string, hasPrincipals: boolean): string | undefined {
  if (!hasPrincipals) return undefined;
  const isShared = spec.kind === 'command' && (spec.processes ?? 'shared') === 'shared' && !spec.stateless;
  if (!isShared) return `console:${who}`;
  throw new IsthmusError(
    'INVALID_OPTION',
    `${spec.name} has one process for one caller, so the console does not call it: give each principal its own process`,
  );
}

/** Tells the console what the gateway sees. */
function watcherFor(console: GatewayConsole, clean: (text: string) => string): LiveWatcher {
  return {
    get wantsCalls() {
      return console.isWatched;
    },
    nextNumber: () => console.nextNumber(),
    isOwn: (number) => number !== undefined && console.isOwn(number),
    callBegan({ number: id, server, method, tool, prompt, uri, era, revision, principal, client, cancel }) {
      const row = {
        ...{ id, server, method, began: Date.now() },
        ...(tool !== undefined && { tool }),
        ...(prompt !== undefined && { prompt }),
        ...(uri !== undefined && { uri }),
        client: {
          ...{ era, revision },
          ...(principal !== undefined && { principal }),
          ...(client !== undefined && { name: client }),
        },
      };
      console.callBegan(row, cancel);
    },
    callAsks: (number, isAsking) => console.callAsks(number, isAsking),
    callProgressed(number, { progress, total, message }) {
      console.callProgressed(number, {
        progress,
        ...(total !== undefined && { total }),
        ...(message !== undefined && { message }),
      });
    },
    callEnded(number, { outcome, errorType, code, message, ms }) {
      console.callEnded(number, {
        ...{ outcome, ms },
        ...(errorType !== undefined && { errorType }),
        ...(code !== undefined && { code }),
        ...(message !== undefined && { message: clean(message) }),
      });
    },
    sessionBegan({ id, server, principal, client, revision, since, subscribed, end }) {
      const row = {
        ...{ id, server, revision, since, subscribed },
        ...(principal !== undefined && { principal }),
        ...(client !== undefined && { client }),
      };
      console.sessionBegan(row, end);
    },
    sessionSubscribed: (id, subscribed) => console.sessionSubscribed(id, subscribed),
    sessionEnded: (id) => console.sessionEnded(id),
    onHostEvent(event) {
      const what = describe(event);
      const { generation } = event as { readonly generation?: number };
      if (what === undefined) return;
      console.happened(event.server, {
        at: event.at,
        what: clean(what),
        ...(generation !== undefined && { generation }),
      });
    },
    onRefused: (server) => console.refused(server),
    isRecording: (server) => console.isRecording(server),
    openLine: (server, connection) => console.openLine(server, connection),
  };
}

const STARTS = {
  use: 'for a call',
  eager: 'with the gateway',
  restart: 'because of a restart',
  crash: 'after it had ended by itself',
  age: 'because of its age',
} as const;

/** The moments of a process that its history shows. */
function describe(event: HostEvent): string | undefined {
  switch (event.kind) {
    case 'start':
      return `started ${STARTS[event.why]}`;
    case 'ready':
      return `ready after ${Math.round(event.ms)} ms, ${event.era}`;
    case 'exit':
      return event.expected ? 'ended, as requested' : event.reason;
    case 'restart':
      return `starts again in ${(event.delayMs / 1000).toFixed(1)} s (attempt ${event.attempt})`;
    case 'crash-loop':
      return `crashed ${event.attempts + 1} times in a row: ${event.reason}`;
    case 'kill':
      return `killed: ${event.why}`;
    case 'drain':
      return `finishes its calls: ${event.why}`;
    case 'receipt':
      return event.receipt.complete ? 'its first list was answered' : 'its first list failed';
    default:
      return undefined;
  }
}

async function* toRows(lines: AsyncIterable<LogLine>): AsyncGenerator<Omit<LogRow, 'number'>> {
  for await (const { server, at, source, text, level, pid, generation, missed } of lines) {
    yield {
      ...{ server, at, text, source: source === 'gateway' ? 'process' : source },
      ...(level !== undefined && { level }),
      ...(pid !== undefined && { pid }),
      ...(generation !== undefined && { generation }),
      ...(missed !== undefined && { missed }),
    };
  }
}

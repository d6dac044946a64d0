import { checkedOptions, invalidArgument, kindOf, type OptionNames } from '../arguments.js';
import { type Clock, systemClock } from '../async/clock.js';
import { type Answers, capabilitiesOf } from '../era/answers.js';
import { eraOf } from '../era/classify/classify-probe.js';
import type { ClientConnectionSettings } from '../era/client-dialect-context.js';
import { checkExtensions, type Extensions } from '../era/extensions.js';
import { REVISION_TABLE } from '../era/revisions.js';
import { IsthmusError } from '../errors.js';
import type { ForeignNotification } from '../exchange/call.js';
import { VERSION } from '../version.js';
import type { InvalidMessage } from '../wire/json-rpc.js';
import type { ClientCapabilities, Implementation, LogEntry } from '../wire/model.js';
import { type EraCache, fileEraCache } from './negotiation/era-cache.js';

/** `auto` probes the era. `modern`, `legacy` or a revision allow nothing else. */
export type Mode = 'auto' | 'modern' | 'legacy' | (string & {});

/** How a client connects, and what it answers when the server asks. */
export interface ConnectOptions {
  readonly mode?: Mode;
  /** The name and version that the server is told. */
  readonly info?: Implementation;
  /** Answers to questions of the server. The declared capabilities follow from it. */
  readonly answers?: Answers;
  /** Extensions that this client declares, by their id: `{ 'io.modelcontextprotocol/ui': { mimeTypes } }`. */
  readonly extensions?: Extensions;
  /** How many `input_required` rounds one call may take. Default 16. */
  readonly maxRounds?: number;
  /** Logs that belong to no call. */
  readonly onLog?: (entry: LogEntry) => void;
  /** Called for lines of the server that are not messages, such as banners. They are skipped. */
  readonly onNoise?: (line: InvalidMessage) => void;
  /** Where the eras of servers are kept between runs. `false`: not at all. Default: files of the user. */
  readonly cache?: EraCache | false;
  /** Cancels connecting. */
  readonly signal?: AbortSignal;
  /** Time for connecting in all. Default 30 s. */
  readonly connectTimeoutMs?: number;
  /** A server that has sent something, and does not answer the probe within this, counts as legacy. Default 1 s. */
  readonly silenceMs?: number;
  /** A server that sends nothing at all within this counts as legacy. Default 5 s. */
  readonly bootMs?: number;
  /** Time for one call, unless the call sets its own. Default 60 s. */
  readonly timeoutMs?: number;
  /** Opens a new connection when the old one is lost and the next call, or an open `listen`, needs it. Default true. */
  readonly reconnect?: boolean;
  /**
   * A name for the authorization in use. With it, private results are cached as well; without it only public ones.
   */
  readonly principal?: string;
  readonly clock?: Clock;
}

export type ConnectSettings = ClientConnectionSettings &
  Required<Omit<ConnectOptions, 'onLog' | 'onNoise' | 'principal' | 'cache' | 'signal' | 'extensions'>> &
  Pick<ConnectOptions, 'principal'> & {
    readonly extensions?: Extensions | undefined;
    readonly cache: EraCache | undefined;
    /** Declared when the connection is opened. Each tenant has its own besides. */
    readonly capabilities: ClientCapabilities;
    /** Called for notifications of extensions that belong to no call. */
    readonly onNotification?: ((notification: ForeignNotification) => void) | undefined;
    /** Called when the user has completed an elicitation by URL (legacy, 2025-11-25). */
    readonly onElicited?: ((elicitationId: string) => void) | undefined;
  };

/** Throws unless it is a connector, and says which connector to write for what was given. */
export function checkConnector(owner: string, given: unknown): void {
  const value = (typeof given === 'object' && given !== null ? given : {}) as Partial<
    Record<string, unknown>
  >;
  const isService = typeof value['handle'] === 'function';
  if (typeof value['connect'] === 'function' && !isService) return;
  throw invalidArgument(
    `${owner} needs a connector, got ${kindOf(given)}. Write ${connectorFor(given, value)}`,
  );
}

function connectorFor(given: unknown, value: Partial<Record<string, unknown>>): string {
  if (given instanceof URL || 'url' in value) return 'http(url)';
  if ('command' in value) return 'stdio({ command, args })';
  if (typeof value['handle'] === 'function') return 'memory(): serve the server on it, then connect to it';
  if (typeof value['listen'] === 'function') return 'http(url), stdio({ command, args }) or unixSocket(path)';
  if (typeof given !== 'string')
    return 'http(url), stdio({ command, args }), unixSocket(path) or tcp({ port })';
  if (/^https?:/i.test(given)) return 'http(url)';
  if (given.startsWith('unix:')) return 'unixSocket(path)';
  return given.startsWith('tcp:') ? 'tcp({ host, port })' : 'stdio({ command, args })';
}

const CONNECT_OPTIONS: OptionNames<ConnectOptions> = {
  mode: true,
  info: true,
  answers: true,
  extensions: true,
  maxRounds: true,
  onLog: true,
  onNoise: true,
  cache: true,
  signal: true,
  connectTimeoutMs: true,
  silenceMs: true,
  bootMs: true,
  timeoutMs: true,
  reconnect: true,
  principal: true,
  clock: true,
};

export function resolveConnect(options: ConnectOptions): Omit<ConnectSettings, 'onChange'> {
  checkedOptions('connect', options, CONNECT_OPTIONS, (name) =>
    name === 'timeout'
      ? '; "timeoutMs" is the time for one call, "connectTimeoutMs" the time for connecting'
      : undefined,
  );
  checkExtensions('connect', options.extensions);
  const settings: ReturnType<typeof resolveConnect> = {
    mode: options.mode ?? 'auto',
    info: options.info ?? { name: 'isthmus', version: VERSION },
    answers: options.answers ?? {},
    extensions: options.extensions,
    capabilities: {
      ...capabilitiesOf(options.answers ?? {}),
      ...(options.extensions && { extensions: options.extensions }),
    },
    fallbackAnswers: options.answers ?? {},
    questions: undefined,
    maxRounds: options.maxRounds ?? 16,
    onLog: options.onLog,
    onNoise: options.onNoise,
    cache: options.cache === false ? undefined : (options.cache ?? fileEraCache()),
    connectTimeoutMs: options.connectTimeoutMs ?? 30_000,
    silenceMs: options.silenceMs ?? 1000,
    bootMs: options.bootMs ?? 5000,
    timeoutMs: options.timeoutMs ?? 60_000,
    reconnect: options.reconnect ?? true,
    principal: options.principal,
    clock: options.clock ?? systemClock,
  };
  const { mode } = settings;
  if (mode !== 'auto' && mode !== 'modern' && mode !== 'legacy' && eraOf(mode) === undefined) {
    throw new IsthmusError(
      'INVALID_OPTION',
      `mode must be auto, modern, legacy or a revision; got ${String(mode)}. Known revisions: ${REVISION_TABLE}`,
    );
  }
  for (const name of ['connectTimeoutMs', 'silenceMs', 'bootMs', 'timeoutMs', 'maxRounds'] as const) {
    if (!(Number.isSafeInteger(settings[name]) && settings[name] > 0)) {
      throw new IsthmusError(
        'INVALID_OPTION',
        `${name} must be a positive whole number, got ${settings[name]}`,
      );
    }
  }
  return settings;
}

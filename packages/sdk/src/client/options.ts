import { type Clock, systemClock } from '../async/clock.js';
import { type Answers, capabilitiesOf } from '../era/answers.js';
import { eraOf } from '../era/classify-probe.js';
import type { QuestionPolicy } from '../era/client-dialect-context.js';
import { REVISION_TABLE } from '../era/revisions.js';
import { IsthmusError } from '../errors.js';
import type { Change } from '../exchange/call.js';
import { VERSION } from '../version.js';
import type { InvalidMessage } from '../wire/json-rpc.js';
import type { ClientCapabilities, Implementation, LogEntry } from '../wire/model.js';
import { type EraCache, fileEraCache } from './negotiation/era-cache.js';

/** `auto` finds out; `modern` and `legacy` insist on an era; a revision insists on that one. */
export type Mode = 'auto' | 'modern' | 'legacy' | (string & {});

export interface ConnectOptions {
  readonly mode?: Mode;
  /** Who is calling, as told to the server. */
  readonly info?: Implementation;
  /** What this client does when the server asks. The capabilities it declares follow from it. */
  readonly answers?: Answers;
  /** How many `input_required` rounds one call may take. Default 16. */
  readonly maxRounds?: number;
  /** Logs that belong to no call. */
  readonly onLog?: (entry: LogEntry) => void;
  /** Lines of the server that are no messages (banners and the like). They are skipped. */
  readonly onNoise?: (line: InvalidMessage) => void;
  /** Where verdicts about servers are kept between runs: a cache of your own, or `false` for none. */
  readonly cache?: EraCache | false;
  /** Calls connecting off. */
  readonly signal?: AbortSignal;
  /** How long the whole of connecting may take. Default 30 s. */
  readonly connectTimeoutMs?: number;
  /** How long a server that shows life may stay silent on the probe before it counts as legacy. Default 1 s. */
  readonly silenceMs?: number;
  /** How long a server may take to show life before it counts as legacy. Default 5 s. */
  readonly bootMs?: number;
  /** Time for one call, unless the call says otherwise. Default 60 s. */
  readonly timeoutMs?: number;
  /** Opens a fresh connection when the old one is lost and the next call (or an open `listen`) needs it. Default true. */
  readonly reconnect?: boolean;
  /**
   * Whose answers these are (a name for the authorization in use). With it, results that are private may be
   * cached too; without it only public ones are.
   */
  readonly principal?: string;
  readonly clock?: Clock;
}

export type ConnectSettings = Required<
  Omit<ConnectOptions, 'onLog' | 'onNoise' | 'principal' | 'cache' | 'signal'>
> &
  Pick<ConnectOptions, 'onLog' | 'onNoise' | 'principal'> & {
    readonly cache: EraCache | undefined;
    /** What the server is told when the connection is opened; each voice has its own besides. */
    readonly capabilities: ClientCapabilities;
    /** Answers to questions that belong to no call, where several voices share the connection. */
    readonly fallbackAnswers: Answers;
    /** Undefined: there is only one voice. */
    readonly questions: QuestionPolicy | undefined;
    /** Told when the user is done at a page (legacy, 2025-11-25). */
    readonly onElicited?: ((elicitationId: string) => void) | undefined;
    /** Told of every change, so that what is cached can be dropped. */
    readonly onChange: (change: Change) => void;
  };

export function resolveConnect(options: ConnectOptions): Omit<ConnectSettings, 'onChange'> {
  const settings: ReturnType<typeof resolveConnect> = {
    mode: options.mode ?? 'auto',
    info: options.info ?? { name: 'isthmus', version: VERSION },
    answers: options.answers ?? {},
    capabilities: capabilitiesOf(options.answers ?? {}),
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

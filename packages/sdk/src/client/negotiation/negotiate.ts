import { within } from '../../async/clock.js';
import {
  classifyProbe,
  decidesEra,
  describe,
  eraOf,
  lacksDiscover,
  type ProbeOutcome,
  type ProbeVerdict,
} from '../../era/classify-probe.js';
import type { ClientDialect, ClientDialectContext } from '../../era/client-dialect-context.js';
import { LegacyClientDialect } from '../../era/legacy/client-dialect.js';
import { ModernClientDialect } from '../../era/modern/client-dialect.js';
import {
  isInterimRevision,
  isLegacyRevision,
  isModernRevision,
  LATEST_LEGACY,
  LATEST_MODERN,
  type LegacyRevision,
  type ModernRevision,
} from '../../era/revisions.js';
import { IsthmusError, messageOf, ProtocolError } from '../../errors.js';
import type { Era, ServerFacts } from '../../exchange/call.js';
import type { Connection, Connector } from '../../exchange/connection.js';
import { isJsonObject, type JsonObject } from '../../wire/json-rpc.js';
import type { ConnectSettings } from '../options.js';
import { describeOutcome, discover } from './discover.js';
import { describeRefusal, initialize, namedVersions } from './initialize.js';
import { NegotiatedConnection } from './negotiated-connection.js';

/** What was found out about a server, and how. */
export interface EraVerdict {
  readonly era: Era;
  readonly revision: string;
  /** One sentence. */
  readonly why: string;
  /** What each step brought, in order. */
  readonly evidence: readonly string[];
  /** How long connecting took. */
  readonly ms: number;
  /** What the server said it speaks, where it said so. */
  readonly supported: readonly string[] | undefined;
  /** What works here and may not elsewhere: a draft shape, an interim draft. */
  readonly warnings: readonly string[] | undefined;
  /** `cache`: the era was remembered from an earlier run and held. */
  readonly source: 'probe' | 'cache' | 'mode';
}

/** A connection whose era is known. */
export interface NegotiationResult {
  readonly line: NegotiatedConnection;
  readonly dialect: ClientDialect;
  readonly verdict: EraVerdict;
}

/** Connects and finds out the era, on the one connection that will serve (a second one only if the first is gone). */
export async function negotiate(
  connector: Connector,
  settings: ConnectSettings,
  { remembered, signal }: { remembered?: Era; signal?: AbortSignal | undefined } = {},
): Promise<NegotiationResult> {
  const negotiation = new Negotiation(connector, settings, signal);
  const abort = () => negotiation.abort();
  signal?.addEventListener('abort', abort, { once: true });
  try {
    return await negotiation.run(remembered);
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

class Negotiation {
  readonly #connector: Connector;
  readonly #settings: ConnectSettings;
  readonly #signal: AbortSignal | undefined;
  readonly #started: number;
  readonly #evidence: string[] = [];
  #warnings: readonly string[] | undefined;
  #line: NegotiatedConnection | undefined;
  #respawned = false;
  /** The server has answered `server/discover`, if only with an error: asking again would bring nothing new. */
  #probeAnswered = false;
  /** It may be a modern server that has no `server/discover`. */
  #lacksDiscover = false;
  /** It was silent for too long, but modern after all. */
  #answeredLate = false;
  #remembered: Promise<void> | undefined;
  #supported: readonly string[] | undefined;

  constructor(connector: Connector, settings: ConnectSettings, signal: AbortSignal | undefined) {
    this.#connector = connector;
    this.#settings = settings;
    this.#signal = signal;
    this.#started = settings.clock.now();
  }

  /** Whoever waits for the connection no longer does. */
  abort(): void {
    void this.#line?.close();
  }

  async run(remembered: Era | undefined): Promise<NegotiationResult> {
    try {
      const { mode } = this.#settings;
      if (mode === 'legacy' || eraOf(mode) === 'legacy') return await this.#asked(mode);
      if (mode === 'modern' || eraOf(mode) === 'modern') return await this.#probe('mode', LATEST_MODERN);
      const cached = remembered ?? (await this.#cached());
      if (cached === 'legacy') return await this.#cachedLegacy();
      return await this.#probe(cached ? 'cache' : 'probe', LATEST_MODERN);
    } catch (error) {
      await this.#line?.close();
      throw this.#signal?.aborted ? this.#calledOff() : this.#withEvidence(error);
    }
  }

  /** Asks `server/discover` until it is clear what the server is; a server that corrects us is asked once more. */
  async #probe(source: EraVerdict['source'], preferred: ModernRevision): Promise<NegotiationResult> {
    const tried: string[] = [];
    let revision: ModernRevision = preferred;
    for (;;) {
      tried.push(revision);
      const outcome = await this.#discover(revision);
      const verdict = classifyProbe(outcome, tried);
      this.#probeAnswered = outcome.kind !== 'silence' && outcome.kind !== 'gone';
      this.#lacksDiscover = lacksDiscover(outcome);
      if (verdict.kind === 'retry') {
        revision = verdict.revision;
        continue;
      }
      // Insisting on the modern era, an end is just an end; and what could not be started will not be now.
      if (outcome.kind === 'gone' && (this.#settings.mode !== 'auto' || neverStarted(outcome.error))) {
        throw outcome.error;
      }
      return this.#conclude(verdict, source, outcome.kind === 'gone');
    }
  }

  #conclude(verdict: Exclude<ProbeVerdict, { kind: 'retry' }>, source: EraVerdict['source'], gone: boolean) {
    const { mode } = this.#settings;
    switch (verdict.kind) {
      case 'modern':
        this.#warnings = verdict.warnings;
        return this.#modern(verdict.revision, verdict.server, verdict.why, source);
      case 'incompatible':
        throw this.#noCommon(verdict.why);
      case 'legacy':
        if (mode !== 'auto') {
          throw this.#noCommon(
            `${verdict.why}, so it is a legacy server; connect with mode "auto" or "legacy" to use it`,
          );
        }
        return this.#legacyOrForward(
          verdict.revision,
          verdict.why,
          source === 'cache' ? 'probe' : source,
          gone,
        );
    }
  }

  /** A server remembered as legacy is spoken to at once; if that fails, it is asked after all. */
  async #cachedLegacy(): Promise<NegotiationResult> {
    try {
      return await this.#legacyOrForward(LATEST_LEGACY, 'it was legacy before', 'cache', false);
    } catch (error) {
      if (isNoEvidence(error)) throw error;
      this.#evidence.push(`what was remembered did not hold: ${messageOf(error)}`);
      await this.#line?.close();
      this.#line = undefined;
      return this.#probe('probe', LATEST_MODERN);
    }
  }

  /** Legacy because the caller says so. */
  #asked(mode: string): Promise<NegotiationResult> {
    const pinned = isLegacyRevision(mode) ? mode : undefined;
    const why = 'the caller asked for it';
    if (pinned) {
      return this.#legacy(pinned, why, 'mode', false, pinned).catch((error: unknown) => {
        throw error instanceof ProtocolError ? this.#refusedInitialize(error) : error;
      });
    }
    return this.#legacyOrForward(LATEST_LEGACY, why, 'mode', false);
  }

  /**
   * A modern server that refuses the handshake is used all the same. It names its versions, or (VER-009 is only
   * a SHOULD) it is asked, unless the probe was answered already.
   */
  async #legacyOrForward(
    revision: LegacyRevision,
    why: string,
    source: EraVerdict['source'],
    gone: boolean,
  ): Promise<NegotiationResult> {
    try {
      return await this.#legacy(revision, why, source, gone);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const namesModern = namedVersions(error).some(isModernRevision);
      if (this.#lacksDiscover) return this.#undiscovered(error);
      if (this.#probeAnswered && !namesModern) throw this.#refusedInitialize(error);
      this.#evidence.push(`initialize was refused with ${inWords(error)}`);
      return this.#forward(error);
    }
  }

  /** Neither era's opening is known there, and the first was refused as only modern servers do: wire sheet §10. */
  #undiscovered(refusal: Refused): NegotiationResult {
    this.#evidence.push(`initialize was refused with ${inWords(refusal)}`);
    const nothing: ServerFacts = { info: undefined, capabilities: {}, instructions: undefined };
    return this.#modern(
      LATEST_MODERN,
      nothing,
      'it answered server/discover with HTTP 404 and -32601',
      'probe',
    );
  }

  async #forward(refusal: Refused): Promise<NegotiationResult> {
    const outcome = await this.#discover(LATEST_MODERN, namedVersions(refusal).some(isModernRevision));
    // The end of a process is not a word about its era: the next attempt may find it well.
    if (outcome.kind === 'gone' && outcome.error !== undefined) throw outcome.error;
    const verdict = classifyProbe(outcome, [LATEST_MODERN]);
    if (verdict.kind !== 'modern') throw this.#refusedInitialize(refusal);
    this.#warnings = verdict.warnings;
    return this.#modern(
      verdict.revision,
      verdict.server,
      'it refused initialize and answered server/discover',
      'probe',
    );
  }

  /** `isModern`: the server has named a modern revision, so silence means that it is busy, and is waited out. */
  async #discover(revision: ModernRevision, isModern = false): Promise<ProbeOutcome> {
    const { outcome: first, late } = await discover(await this.#open(), this.#settings, revision);
    const outcome = first.kind === 'silence' && isModern ? ((await late) ?? first) : first;
    this.#evidence.push(describeOutcome(outcome));
    this.#supported = supportedIn(outcome) ?? this.#supported;
    if (outcome.kind === 'silence') void this.#heedLateAnswer(late);
    return outcome;
  }

  /** Ignored here, where legacy is spoken by now; but the next run shall ask again. */
  async #heedLateAnswer(answer: Promise<ProbeOutcome | undefined>): Promise<void> {
    const late = await answer;
    if (late?.kind !== 'result' || classifyProbe(late, []).kind !== 'modern') return;
    this.#answeredLate = true;
    const { identity } = this.#connector;
    // What is being written is taken back when it is there.
    await this.#remembered;
    if (identity !== undefined) await this.#settings.cache?.delete(identity).catch(() => {});
  }

  async #legacy(
    offered: LegacyRevision,
    why: string,
    source: EraVerdict['source'],
    gone: boolean,
    pinned?: LegacyRevision,
  ): Promise<NegotiationResult> {
    if (gone) await this.#respawn(why);
    const line = await this.#open();
    const { clock, connectTimeoutMs } = this.#settings;
    const left = Math.max(1, connectTimeoutMs - (clock.now() - this.#started));
    const { revision, server } = await initialize(line, this.#settings, offered, left).catch(
      (error: unknown) => {
        const odd = error instanceof IsthmusError && error.code === 'INVALID_RESULT';
        throw odd ? this.#noCommon(error.message, error) : error;
      },
    );
    if (pinned && revision !== pinned) {
      throw this.#noCommon(`it answered initialize with ${revision}, and this client insists on ${pinned}`);
    }
    if (isInterimRevision(revision)) {
      this.#warnings = [`${revision} is an interim draft, spoken here in the shapes of ${LATEST_LEGACY}`];
    }
    const dialect = new LegacyClientDialect(this.#side(line), line.requests, revision, server);
    return this.#link(line, dialect, why, source);
  }

  #refusedInitialize(error: Refused): IsthmusError {
    if (error instanceof IsthmusError) return error;
    const { mode } = this.#settings;
    const insists = eraOf(mode) ? `, and this client insists on ${mode}` : '';
    return this.#noCommon(`${describeRefusal(error)}${insists}`, error);
  }

  #modern(
    revision: ModernRevision,
    server: ServerFacts,
    why: string,
    source: EraVerdict['source'],
  ): NegotiationResult {
    const line = this.#line!;
    const dialect = new ModernClientDialect(this.#side(line), line.requests, revision, server);
    return this.#link(line, dialect, why, source);
  }

  #link(
    line: NegotiatedConnection,
    dialect: ClientDialect,
    why: string,
    source: EraVerdict['source'],
  ): NegotiationResult {
    const { clock, cache } = this.#settings;
    const { era, revision } = dialect;
    line.use(dialect);
    const { identity } = this.#connector;
    // Only what a probe found out: what the caller insisted on says nothing about the next caller, and a
    // verdict that is renewed by its own use would never be questioned again.
    if (
      identity !== undefined &&
      source === 'probe' &&
      this.#settings.mode === 'auto' &&
      !this.#answeredLate
    ) {
      this.#remembered = cache?.set(identity, { era, revision, at: clock.now() }).catch(() => {});
    }
    const verdict: EraVerdict = {
      era,
      revision,
      why,
      evidence: this.#evidence,
      supported: this.#supported,
      warnings: this.#warnings,
      ms: clock.now() - this.#started,
      source,
    };
    return { line, dialect, verdict };
  }

  #side(line: NegotiatedConnection): ClientDialectContext {
    const { clock, fallbackAnswers, questions, maxRounds, onLog, onChange } = this.#settings;
    return { connection: line.connection, clock, fallbackAnswers, questions, maxRounds, onLog, onChange };
  }

  async #open(): Promise<NegotiatedConnection> {
    if (this.#signal?.aborted) throw this.#calledOff();
    this.#line ??= new NegotiatedConnection(
      await this.#connected(),
      this.#settings.clock,
      this.#settings.onNoise,
    );
    if (this.#signal?.aborted) throw this.#calledOff();
    return this.#line;
  }

  /** Opening may hang (a host that swallows packets); it is given up, and closed should it come after all. */
  async #connected(): Promise<Connection> {
    const { clock, connectTimeoutMs } = this.#settings;
    const opening = Promise.resolve(this.#connector.connect());
    if (await within(clock, connectTimeoutMs, opening)) return opening;
    opening.then((connection) => connection.close()).catch(() => {});
    throw new IsthmusError(
      'TIMED_OUT',
      `${this.#connector.label} could not be reached within ${connectTimeoutMs} ms`,
      {
        sent: 'no',
      },
    );
  }

  #withEvidence(error: unknown): unknown {
    if (!(error instanceof IsthmusError) || this.#evidence.length === 0) return error;
    return error.with({ evidence: this.#evidence });
  }

  #calledOff(): IsthmusError {
    return new IsthmusError('CANCELLED', `Connecting to ${this.#connector.label} was called off`, {
      cause: this.#signal?.reason,
      sent: 'no',
    });
  }

  /** Never two live copies: the first is gone before the second is started, and there is no third. */
  async #respawn(why: string): Promise<void> {
    if (this.#respawned) throw this.#noCommon(why);
    this.#respawned = true;
    await this.#line?.close();
    this.#line = undefined;
    this.#evidence.push('it was started once more, to be spoken to as legacy');
  }

  async #cached(): Promise<Era | undefined> {
    const { cache } = this.#settings;
    const { identity } = this.#connector;
    if (identity === undefined) return undefined;
    // A hint, never an obstacle.
    const known = await cache?.get(identity).catch(() => undefined);
    return known?.era;
  }

  #noCommon(why: string, cause?: unknown): IsthmusError {
    return new IsthmusError('NO_COMMON_REVISION', `Cannot use ${this.#connector.label}: ${why}`, {
      sent: 'no',
      cause,
    });
  }
}

/** The server does not want `initialize`. */
type Refused = ProtocolError | IsthmusError;

function isRefusal(error: unknown): error is Refused {
  if (error instanceof ProtocolError) return error.status === undefined || decidesEra(error.status);
  return error instanceof IsthmusError && error.code === 'HTTP_STATUS' && decidesEra(error.status!);
}

function inWords(error: Refused): string {
  return error instanceof ProtocolError ? describe(error) : `HTTP ${error.status}`;
}

/** It would fail in any era. */
function isNoEvidence(error: unknown): boolean {
  const { status } = error as { status?: number };
  if (status !== undefined) return !decidesEra(status);
  return error instanceof IsthmusError && error.code === 'ADDRESS_UNAVAILABLE';
}

function neverStarted(error: unknown): boolean {
  return error instanceof IsthmusError && error.code === 'CANNOT_START';
}

function supportedIn(outcome: ProbeOutcome): readonly string[] | undefined {
  const { supportedVersions, supported, protocolVersion } = {
    ...(outcome.kind === 'result' && outcome.result),
    ...(outcome.kind === 'error' && isJsonObject(outcome.error.data) && outcome.error.data),
  } as JsonObject;
  const list =
    supportedVersions ?? supported ?? (isModernRevision(protocolVersion) ? [protocolVersion] : undefined);
  return Array.isArray(list) ? list.filter((version) => typeof version === 'string') : undefined;
}

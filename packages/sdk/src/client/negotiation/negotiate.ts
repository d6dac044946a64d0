import type { Cancellation } from '../../async/abort.js';
import {
  classifyProbe,
  eraOf,
  lacksDiscover,
  type ProbeOutcome,
  type ProbeVerdict,
} from '../../era/classify/classify-probe.js';
import type { DiscoveryOutcome, EraVerdict } from '../../era/client/era-verdict.js';
import type { NegotiatedConnection } from '../../era/client/negotiated-connection.js';
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
import type { Connector } from '../../exchange/connection.js';
import type { ConnectSettings } from '../options.js';
import { ConnectionAttempt } from './connection-attempt.js';
import { describeOutcome, discover, isNoEvidence, neverStarted, supportedIn } from './discover.js';
import {
  describeRefusal,
  initialize,
  isRefusal,
  namedVersions,
  type RefusedInitialize,
  refusalText,
} from './initialize.js';

/** Connects and determines the era on the same connection. A second one is opened only if the first is gone. */
export async function negotiate(
  connector: Connector,
  settings: ConnectSettings,
  { remembered, signal }: { remembered?: Era; signal?: Cancellation | undefined } = {},
): Promise<NegotiatedConnection> {
  const attempt = new ConnectionAttempt(connector, settings, signal);
  const abort = () => void attempt.close();
  signal?.addEventListener('abort', abort, { once: true });
  try {
    return await new Negotiation(attempt, settings).run(remembered);
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

type Source = EraVerdict['source'];

class Negotiation {
  readonly #attempt: ConnectionAttempt;
  readonly #settings: ConnectSettings;
  #warnings: readonly string[] | undefined;
  /** The server has answered `server/discover`, with a result or an error. A second probe would bring nothing new. */
  #probeAnswered = false;
  /** The server may be a modern one without `server/discover`. */
  #lacksDiscover = false;
  #supported: readonly string[] | undefined;
  readonly #discovery: DiscoveryOutcome[] = [];

  constructor(attempt: ConnectionAttempt, settings: ConnectSettings) {
    this.#attempt = attempt;
    this.#settings = settings;
  }

  async run(remembered: Era | undefined): Promise<NegotiatedConnection> {
    try {
      const { mode } = this.#settings;
      if (mode === 'legacy' || eraOf(mode) === 'legacy') return await this.#requestedLegacy(mode);
      if (mode === 'modern' || eraOf(mode) === 'modern') return await this.#probe('mode', LATEST_MODERN);
      const cached = remembered ?? (await this.#attempt.rememberedEra());
      if (cached === 'legacy') return await this.#cachedLegacy();
      return await this.#probe(cached ? 'cache' : 'probe', LATEST_MODERN);
    } catch (error) {
      await this.#attempt.close();
      throw this.#attempt.failure(error);
    }
  }

  /** Sends `server/discover` until the era is clear: once more if the server names another revision. */
  async #probe(source: Source, preferred: ModernRevision): Promise<NegotiatedConnection> {
    const tried: string[] = [];
    let revision: ModernRevision = preferred;
    for (;;) {
      tried.push(revision);
      const isModern = tried.length > 1;
      // With a mode that allows one era only, silence decides nothing: a slow start is waited for.
      const outcome = await this.#discover(revision, this.#settings.mode !== 'auto' || isModern);
      const verdict = classifyProbe(outcome, tried);
      // VER-010: it has refused the first probe as only a modern server does. Only itself can name a legacy version now.
      if (isModern && verdict.kind === 'legacy' && supportedIn(outcome) === undefined) {
        if (outcome.kind === 'gone' && outcome.error !== undefined) throw outcome.error;
        throw this.#attempt.noCommonRevision(`it is a modern server, but ${describeOutcome(outcome)}`);
      }
      this.#probeAnswered = outcome.kind !== 'silence' && outcome.kind !== 'gone';
      this.#lacksDiscover = lacksDiscover(outcome);
      if (verdict.kind === 'retry') {
        revision = verdict.revision;
        continue;
      }
      // A legacy attempt is useless if only the modern era is allowed, and if the program could not be started.
      if (outcome.kind === 'gone' && (this.#settings.mode !== 'auto' || neverStarted(outcome.error))) {
        throw outcome.error;
      }
      return this.#conclude(verdict, source, outcome.kind === 'gone');
    }
  }

  #conclude(verdict: Exclude<ProbeVerdict, { kind: 'retry' }>, source: Source, gone: boolean) {
    const { mode } = this.#settings;
    switch (verdict.kind) {
      case 'modern':
        this.#warnings = verdict.warnings;
        return this.#result(verdict.revision, verdict.server, verdict.why, source);
      case 'incompatible':
        throw this.#attempt.noCommonRevision(verdict.why);
      case 'legacy':
        if (mode !== 'auto') {
          throw this.#attempt.noCommonRevision(
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

  /** Opens a session with a server that is remembered as legacy. If that fails, probes it. */
  async #cachedLegacy(): Promise<NegotiatedConnection> {
    try {
      return await this.#legacyOrForward(LATEST_LEGACY, 'it was legacy before', 'cache', false);
    } catch (error) {
      if (isNoEvidence(error)) throw error;
      this.#attempt.evidence.push(`the remembered era was wrong: ${messageOf(error)}`);
      await this.#attempt.discard();
      return this.#probe('probe', LATEST_MODERN);
    }
  }

  /** The caller wants the legacy era. */
  #requestedLegacy(mode: string): Promise<NegotiatedConnection> {
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
   * Opens a legacy session, or continues with a modern server that refuses the handshake. Such a server names its
   * versions, or (VER-009 is only a SHOULD) is probed, unless it was probed already.
   */
  async #legacyOrForward(
    revision: LegacyRevision,
    why: string,
    source: Source,
    gone: boolean,
  ): Promise<NegotiatedConnection> {
    try {
      return await this.#legacy(revision, why, source, gone);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const namesModern = namedVersions(error).some(isModernRevision);
      if (this.#lacksDiscover) return this.#modernWithoutDiscover(error);
      if (this.#probeAnswered && !namesModern) throw this.#refusedInitialize(error);
      this.#attempt.evidence.push(`initialize was refused with ${refusalText(error)}`);
      return this.#forward(error);
    }
  }

  /** The server refused both openings, and the first one in a way that only modern servers do: wire sheet §10. */
  #modernWithoutDiscover(refusal: RefusedInitialize): NegotiatedConnection {
    this.#attempt.evidence.push(`initialize was refused with ${refusalText(refusal)}`);
    const nothing: ServerFacts = { info: undefined, capabilities: {}, instructions: undefined };
    return this.#result(
      LATEST_MODERN,
      nothing,
      'it answered server/discover with HTTP 404 and -32601',
      'probe',
    );
  }

  async #forward(refusal: RefusedInitialize): Promise<NegotiatedConnection> {
    const outcome = await this.#discover(LATEST_MODERN, namedVersions(refusal).some(isModernRevision));
    // The exit of a process does not show its era. The next attempt may succeed.
    if (outcome.kind === 'gone' && outcome.error !== undefined) throw outcome.error;
    const verdict = classifyProbe(outcome, [LATEST_MODERN]);
    if (verdict.kind !== 'modern') throw this.#refusedInitialize(refusal);
    this.#warnings = verdict.warnings;
    return this.#result(
      verdict.revision,
      verdict.server,
      'it refused initialize and answered server/discover',
      'probe',
    );
  }

  /** `waits`: silence does not mean legacy, but that the server is busy. The answer may take all the time for connecting. */
  async #discover(revision: ModernRevision, waits = false): Promise<ProbeOutcome> {
    const { outcome: first, late } = await discover(await this.#attempt.open(), this.#settings, revision);
    const silent = { kind: 'silence', afterMs: this.#settings.connectTimeoutMs } as const;
    const outcome = first.kind === 'silence' && waits ? ((await late) ?? silent) : first;
    this.#attempt.evidence.push(describeOutcome(outcome));
    this.#discovery.push({
      kind: outcome.kind,
      ...(outcome.kind === 'error' && { code: outcome.error.code }),
    });
    this.#supported = supportedIn(outcome) ?? this.#supported;
    if (outcome.kind === 'silence') void this.#heedLateAnswer(late);
    return outcome;
  }

  /** This connection is legacy by now, but the next run should probe again. */
  async #heedLateAnswer(answer: Promise<ProbeOutcome | undefined>): Promise<void> {
    const late = await answer;
    if (late?.kind !== 'result' || classifyProbe(late, []).kind !== 'modern') return;
    await this.#attempt.forget();
  }

  async #legacy(
    offered: LegacyRevision,
    why: string,
    source: Source,
    gone: boolean,
    pinned?: LegacyRevision,
  ): Promise<NegotiatedConnection> {
    if (gone) await this.#attempt.restart(why);
    const connection = await this.#attempt.open();
    const { clock, connectTimeoutMs } = this.#settings;
    const left = Math.max(1, connectTimeoutMs - (clock.now() - this.#attempt.startedAt));
    const { revision, server } = await initialize(connection, this.#settings, offered, left).catch(
      (error: unknown) => {
        const isInvalid = error instanceof IsthmusError && error.code === 'INVALID_RESULT';
        throw isInvalid ? this.#attempt.noCommonRevision(error.message, error) : error;
      },
    );
    if (pinned && revision !== pinned) {
      throw this.#attempt.noCommonRevision(
        `it answered initialize with ${revision}, and this client insists on ${pinned}`,
      );
    }
    if (isInterimRevision(revision)) {
      this.#warnings = [`${revision} is an interim draft, spoken here in the shapes of ${LATEST_LEGACY}`];
    }
    return this.#result(revision, server, why, source);
  }

  #refusedInitialize(error: RefusedInitialize): IsthmusError {
    if (error instanceof IsthmusError) return error;
    const { mode } = this.#settings;
    const insists = eraOf(mode) ? `, and this client insists on ${mode}` : '';
    return this.#attempt.noCommonRevision(`${describeRefusal(error)}${insists}`, error);
  }

  #result(
    revision: ModernRevision | LegacyRevision,
    server: ServerFacts,
    why: string,
    source: Source,
  ): NegotiatedConnection {
    const { connection, evidence, startedAt } = this.#attempt;
    const era: Era = isModernRevision(revision) ? 'modern' : 'legacy';
    const verdict: EraVerdict = {
      ...{ era, revision, why, evidence, source },
      discovery: this.#discovery,
      supported: this.#supported,
      warnings: this.#warnings,
      ms: this.#settings.clock.now() - startedAt,
    };
    connection.use({ verdict, server }, (its) =>
      era === 'modern' ? new ModernClientDialect(its) : new LegacyClientDialect(its),
    );
    // Remembers only what a probe found. What the caller insisted on says nothing about the next caller, and a verdict
    // that its own use renews would never be questioned again.
    if (source === 'probe' && this.#settings.mode === 'auto') this.#attempt.remember(era, revision);
    return connection;
  }
}

import type { SessionLog } from '../../../cluster/event-log.js';
import type { SessionMemory } from '../../../era/legacy/session-memory.js';
import type { RequestLimiter } from '../admission/request-limits.js';
import type { HttpHeaders } from '../exchange/exchange.js';
import type { EventStore } from './event-store.js';

/** What a session is made of. */
export interface SessionConnectionOptions {
  readonly id: string;
  readonly principal: string | undefined;
  /** The address that opened it. */
  readonly remote?: string | undefined;
  /** The client that limits count it for. */
  readonly who: string;
  readonly store: EventStore | undefined;
  readonly retryMs: number | undefined;
  /** Streams of clients that can resume are closed after this. Undefined: they stay open. */
  readonly pollAfterMs: number | undefined;
  /** Sent with every answer; with the session id. */
  readonly headers: HttpHeaders;
  /** The same without the session id, for a handshake that failed. */
  readonly plainHeaders: HttpHeaders;
  readonly limiter: RequestLimiter;
  /** The handshake was accepted. False: all sessions were taken in the meantime. */
  onOpened(): boolean;
  now(): number;
  /** Set if another process can take the session over. */
  readonly continuity?: SessionContinuity | undefined;
}

/** What lets another process of the cluster take a session over. */
export interface SessionContinuity {
  /** Rises with each process that has taken the session over. */
  readonly epoch: number;
  readonly memory: SessionMemory;
  /** The log of its events, if other processes can read it. */
  readonly log: SessionLog | undefined;
  /** The handshake was accepted. Settles when another process could take the session over, or after a moment. */
  opened(): Promise<void>;
  /** The session has ended for everybody. */
  ended(): void;
  /** This process gives the session up, and another one may take it over. */
  released(): void;
}

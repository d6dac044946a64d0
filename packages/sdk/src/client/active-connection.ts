import type { Cancellation } from '../async/abort.js';
import type { Tenant } from '../era/client-dialect-context.js';
import type { IsthmusError } from '../errors.js';
import type { Caller, Era, OutgoingCall, ServerFacts } from '../exchange/call.js';
import type { Connector } from '../exchange/connection.js';
import type { JsonObject } from '../wire/json-rpc.js';
import type { LoggingLevel } from '../wire/model.js';
import { negotiate } from './negotiation/negotiate.js';
import type { EraVerdict } from './negotiation/negotiated-connection.js';
import type { ConnectSettings } from './options.js';
import type { Changes, Wanted } from './subscriptions.js';

/** A connection that calls are made on until it ends. */
export interface ActiveConnection {
  readonly caller: Caller;
  readonly verdict: EraVerdict;
  /** Whether calls can be made at this moment, where that is known. A call may fail without the connection. */
  readonly isUsable?: boolean;
  /** Settles with the reason when no new calls can be made. */
  readonly ended: Promise<IsthmusError>;
  /** Closes it. Calls in flight fail at once. */
  close(): Promise<void>;
}

/** Opens one connection after the other. */
export interface ConnectionSource {
  /** The name of the server in errors. */
  readonly label: string;
  open(options: {
    readonly remembered: Era | undefined;
    readonly signal: Cancellation;
  }): Promise<ActiveConnection>;
  /** Set where a host keeps the process of the server. */
  readonly supervisor?: ConnectionSupervisor;
}

/** What a host knows about the processes behind a `ConnectionSource`. */
export interface ConnectionSupervisor {
  /** How the last process ended, while there is no connection. */
  lastExit():
    | { readonly reason: string; readonly stderrTail: string; readonly generation: number }
    | undefined;
  /** Counts a call that waits for a connection, until the returned function is called. Throws when too many wait. */
  waitForConnection(): () => void;
  /** Whether a new connection is opened for subscriptions after one ended with this error. */
  reopensAfterEnd(error: IsthmusError): boolean;
  /** Whether opening for subscriptions is tried again after it failed. */
  reopensAfterFailure(): boolean;
  /** Whether a call may run twice although its caller did not say so. */
  isSafe(call: OutgoingCall): boolean;
}

/** What a client needs: one connection after the other, or a share in one. */
export interface ClientSession {
  /** Time for one call, unless the call sets its own. */
  readonly timeoutMs: number;
  readonly isClosed: boolean;
  readonly closed: Promise<void>;
  /** Of the newest connection. Throws before the first one. */
  readonly verdict: EraVerdict;
  readonly server: ServerFacts;
  /** The open connection, if there is one. */
  readonly ready: ActiveConnection | undefined;
  /** Makes a call, and opens a connection for it where there is none. */
  call(call: OutgoingCall): Promise<JsonObject>;
  /** Repeats a call that failed on this connection where that is allowed, or throws the error. */
  again(error: unknown, call: OutgoingCall, connection: ActiveConnection, began: number): Promise<JsonObject>;
  now(): number;
  listen(wanted: Wanted): Promise<Changes>;
  setLogLevel(level: LoggingLevel): Promise<void>;
  close(): Promise<void>;
}

/** Opens connections with one tenant each. */
export function ownConnection(connector: Connector, settings: ConnectSettings): ConnectionSource {
  const { info, answers, onLog, onElicited } = settings;
  const tenant: Tenant = { info, answers, onLog, onElicited };
  return {
    label: connector.label,
    async open({ remembered, signal }) {
      const { connection, dialect, verdict } = await negotiate(connector, settings, { remembered, signal });
      return {
        caller: dialect.join(tenant),
        verdict,
        get isUsable() {
          return connection.isUsable;
        },
        ended: connection.ended,
        close: () => connection.close(),
      };
    },
  };
}

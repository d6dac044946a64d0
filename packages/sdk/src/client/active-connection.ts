import type { Tenant } from '../era/client-dialect-context.js';
import type { IsthmusError } from '../errors.js';
import type { Caller, Era, OutgoingCall } from '../exchange/call.js';
import type { Connector } from '../exchange/connection.js';
import { type EraVerdict, negotiate } from './negotiation/negotiate.js';
import type { ConnectSettings } from './options.js';

/** A way to the server that a session uses until it ends. */
export interface ActiveConnection {
  readonly caller: Caller;
  readonly verdict: EraVerdict;
  /** Whether calls can go this way at this moment, where that is known; a call may fail alone, without the link. */
  readonly isUsable?: boolean;
  /** Settles when new calls can no longer go this way, with the reason. */
  readonly ended: Promise<IsthmusError>;
  /** Gives it up: what is in flight fails at once. */
  close(): Promise<void>;
}

/** Opens one link after the other. */
export interface ConnectionSource {
  /** What a person would call the server; named in errors. */
  readonly label: string;
  open(options: {
    readonly remembered: Era | undefined;
    readonly signal: AbortSignal;
  }): Promise<ActiveConnection>;
  /** Why there is no link yet, where that is known: how the last one ended. */
  whyNotYet():
    | { readonly reason: string; readonly stderrTail: string; readonly generation: number }
    | undefined;
  /** A call waits for a link from now on, until the returned function is called. Throws when too many do. */
  waitInLine(): () => void;
  /** Whether another link is opened by itself, for those who listen, after one ended with this. */
  survivesEnd(error: IsthmusError): boolean;
  /** Whether opening is tried again by itself, for those who listen, after it failed. */
  survivesFailure(): boolean;
  /** Whether a call may run twice although its maker did not say so. */
  isSafe(call: OutgoingCall): boolean;
}

/** A connection of its own for each link, with one voice on it. */
export function ownConnection(connector: Connector, settings: ConnectSettings): ConnectionSource {
  const { info, answers, onLog, onElicited } = settings;
  const voice: Tenant = { info, answers, onLog, onElicited };
  return {
    label: connector.label,
    async open({ remembered, signal }) {
      const { line, dialect, verdict } = await negotiate(connector, settings, { remembered, signal });
      return {
        caller: dialect.join(voice),
        verdict,
        get isUsable() {
          return line.isUsable;
        },
        ended: line.ended,
        close: () => line.close(),
      };
    },
    whyNotYet: () => undefined,
    waitInLine: () => () => {},
    survivesEnd: () => true,
    survivesFailure: () => false,
    isSafe: () => false,
  };
}

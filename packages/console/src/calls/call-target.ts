import type { ReconnectingCaller } from '@isthmus/sdk/internal/client/reconnecting-caller.js';
import type { OutputChecks } from '@isthmus/sdk/internal/client/result-checks.js';
import type { CallRow } from '../contract.js';

/** One server as the console calls it. */
export interface CallTarget {
  /** The name of the server in a gateway. */
  readonly server?: string | undefined;
  readonly caller: ReconnectingCaller;
  /** All calls go through a gateway, so that each has the side of a client, too. */
  readonly isBehindGateway?: boolean | undefined;
  /** A caller of the other era, through a bridge to the same server. Undefined: there is none. */
  lens?(): Promise<ReconnectingCaller>;
  readonly outputs: OutputChecks;
  /** What the row of a call says of the connection with the server. */
  upstreamOf(): CallRow['upstream'];
  /** The principal that calls of the console have, where that is not obvious. */
  readonly principal?: string | undefined;
}

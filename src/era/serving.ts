import type { Clock } from '../async/clock.js';
import type { Era } from '../exchange/call.js';
import type { InboundLimits } from '../exchange/inbound-calls.js';
import type { ParkingLimits } from './modern/parked-calls.js';

/** Everything the serving side lets you set, resolved once in `serve()`. */
export interface ServingSettings extends InboundLimits, ParkingLimits {
  readonly clock: Clock;
  readonly eras: readonly Era[];
  /** How long accepted calls may go on after the end of input or `close()`. */
  readonly graceMs: number;
  /** How long a legacy client may take over one question; its progress extends it, four times at most. */
  readonly askTimeoutMs: number;
  /** Open `subscriptions/listen` per connection. */
  readonly maxListens: number;
  /** Legacy connections are pinged this often and closed when they stay silent; 0 is never. */
  readonly pingIntervalMs: number;
  /** 32 bytes that seal `requestState`; share it between replicas. */
  readonly stateKey: string | Uint8Array | undefined;
}

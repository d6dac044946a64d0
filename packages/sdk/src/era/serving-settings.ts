import { type Clock, systemClock } from '../async/clock.js';
import { IsthmusError } from '../errors.js';
import type { Era } from '../exchange/call.js';
import type { InboundLimits } from '../exchange/inbound-calls.js';
import type { ParkingLimits } from './modern/parked-calls.js';
import type { StateKey } from './modern/sealed-state.js';
import { ALL_ERAS } from './revisions.js';

/** The settings of a served connection, resolved once in `serve()`. */
export interface ServingSettings extends InboundLimits, ParkingLimits {
  readonly clock: Clock;
  readonly eras: readonly Era[];
  /** How long accepted calls may run after the end of the input or `close()`. */
  readonly graceMs: number;
  /** How long a legacy client may take to answer a question. Its progress extends this, up to four times. */
  readonly askTimeoutMs: number;
  /** Open `subscriptions/listen` requests per connection. */
  readonly maxListens: number;
  /** Legacy connections are pinged at this interval, and closed if they do not answer; 0: never. */
  readonly pingIntervalMs: number;
  /** 32 bytes that seal `requestState`; share them between replicas. Of several keys the first seals, and all open. */
  readonly stateKey: StateKey | readonly StateKey[] | undefined;
}

/** Fills in the defaults and refuses invalid values. */
export function resolveServing(options: Partial<ServingSettings> = {}): ServingSettings {
  const settings: ServingSettings = {
    clock: options.clock ?? systemClock,
    eras: options.eras ?? ALL_ERAS,
    graceMs: options.graceMs ?? 10_000,
    maxConcurrent: options.maxConcurrent ?? 256,
    maxQueued: options.maxQueued ?? Number.MAX_SAFE_INTEGER,
    maxQueuedBytes: options.maxQueuedBytes ?? 16 * 1024 * 1024,
    askTimeoutMs: options.askTimeoutMs ?? 300_000,
    roundTtlMs: options.roundTtlMs ?? 300_000,
    maxParked: options.maxParked ?? 1000,
    maxListens: options.maxListens ?? 1024,
    pingIntervalMs: options.pingIntervalMs ?? 0,
    stateKey: options.stateKey,
  };
  const { eras } = settings;
  if (!Array.isArray(eras) || eras.length === 0 || !eras.every((era) => ALL_ERAS.includes(era))) {
    throw new IsthmusError(
      'INVALID_OPTION',
      `eras must be a list of legacy, modern or both; got ${String(eras)}`,
    );
  }
  for (const name of WHOLE_NUMBERS) {
    const value = settings[name];
    if (!Number.isSafeInteger(value) || value < (name === 'maxConcurrent' ? 1 : 0)) {
      throw new IsthmusError('INVALID_OPTION', `${name} must be a whole number, got ${String(value)}`);
    }
  }
  return settings;
}

const WHOLE_NUMBERS = [
  'graceMs',
  'maxConcurrent',
  'maxQueued',
  'maxQueuedBytes',
  'askTimeoutMs',
  'roundTtlMs',
  'maxParked',
  'maxListens',
  'pingIntervalMs',
] as const;

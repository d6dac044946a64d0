import type { Clock } from '../../async/clock.js';
import type { Service } from '../../exchange/call.js';
import type { UnitDefinition } from '../unit-definition.js';
import { limitService } from './limit-service.js';
import type { LimitOptions } from './limited-service.js';
import { createRateLimit } from './rate-limit.js';

/** A server within the limits that its configuration sets. Its sessions are bounded where they are opened. */
export function withUnitLimits(
  service: Service,
  { name, unit }: Pick<UnitDefinition, 'name' | 'unit'>,
  more: { readonly clock?: Clock; readonly onRefused?: LimitOptions['onRefused'] } = {},
): Service {
  const { ratePerMinute, maxSessions: _, ...limits } = unit.limits;
  const { clock } = more;
  const rate =
    ratePerMinute === undefined
      ? undefined
      : createRateLimit({ perMinute: ratePerMinute, ...(clock && { clock }) });
  return limitService(service, { server: name, limits, rate, ...more });
}

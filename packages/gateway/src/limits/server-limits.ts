import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import type { Service } from '@isthmus/sdk/internal/exchange/call.js';
import type { GatewayServerDefinition } from '../server-definition.js';
import { limitService } from './limit-service.js';
import type { LimitOptions } from './limited-service.js';
import { createRateLimit } from './rate-limit.js';

/** A server within the limits that its configuration sets. Its sessions are bounded where they are opened. */
export function withServerLimits(
  service: Service,
  { name, unit }: Pick<GatewayServerDefinition, 'name' | 'unit'>,
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

import type { Service } from '../exchange/call.js';
import { createRateLimit, limitService } from '../gateway/limits/index.js';
import type { UnitDefinition } from '../gateway/unit-definition.js';

/** A server within the limits that its configuration sets. All hosts are one caller: the user. */
export function withLimits(service: Service, { name, unit }: UnitDefinition): Service {
  const { ratePerMinute, ...limits } = unit.limits;
  const rate = ratePerMinute === undefined ? undefined : createRateLimit({ perMinute: ratePerMinute });
  return limitService(service, { server: name, limits, rate });
}

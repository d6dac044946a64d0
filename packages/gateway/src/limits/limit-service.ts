import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import type { Service } from '@isthmus/sdk/internal/exchange/call.js';
import type { LimiterLoad } from './call-limiter.js';
import { LimitedService, type LimitOptions, type ServiceLimits } from './limited-service.js';

/** The same service, within limits. Without any it is the service itself. */
export function limitService(service: Service, options: LimitOptions): Service {
  const { limits = {}, rate } = options;
  checkLimits(limits);
  return rate || LIMITS.some((name) => limits[name] !== undefined)
    ? new LimitedService(service, options)
    : service;
}

/** What a service that `limitService` gave back has to do at the moment; `undefined` for others. */
export function loadOf(service: Service): LimiterLoad | undefined {
  return service instanceof LimitedService ? service.load : undefined;
}

function checkLimits(limits: ServiceLimits): void {
  for (const name of [...LIMITS, ...OF_THE_QUEUE]) {
    const limit = limits[name];
    const least = name === 'maxQueue' ? 0 : 1;
    if (limit === undefined || (Number.isSafeInteger(limit) && limit >= least)) continue;
    throw new IsthmusError(
      'INVALID_OPTION',
      `${name} must be a whole number from ${least} on, got ${String(limit)}`,
    );
  }
}

const LIMITS = ['maxConcurrent', 'maxConcurrentPerCaller', 'maxListens', 'maxListensPerCaller'] as const;
/** They limit nothing by themselves. */
const OF_THE_QUEUE = ['maxQueue', 'maxQueueMs'] as const;

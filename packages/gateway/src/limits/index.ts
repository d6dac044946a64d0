export type { LimiterLoad } from './call-limiter.js';
export type { LimitName, LimitRefusal } from './excess.js';
export { type LimitOptions, limitService, loadOf, type ServiceLimits } from './limit-service.js';
export { createRateLimit, type RateLimit, type RateLimitOptions } from './rate-limit.js';

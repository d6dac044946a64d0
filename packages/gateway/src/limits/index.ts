export type { LimiterLoad } from './call-limiter.js';
export type { LimitName } from './excess.js';
export { limitService, loadOf } from './limit-service.js';
export type { LimitOptions, ServiceLimits } from './limited-service.js';
export { createRateLimit, type RateLimit, type RateLimitOptions } from './rate-limit.js';
export type { LimitRefusal } from './refusal.js';
export { withServerLimits } from './server-limits.js';

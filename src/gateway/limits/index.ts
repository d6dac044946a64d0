export type { LimitName } from './excess.js';
export type { Load } from './gate.js';
export { limitService, loadOf } from './limit-service.js';
export type { LimitOptions, ServiceLimits } from './limited-service.js';
export { createRateLimit, type RateLimit, type RateLimitOptions } from './rate-limit.js';
export type { LimitRefusal } from './refusal.js';
export { withUnitLimits } from './unit-limits.js';

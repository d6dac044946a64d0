export { logCall } from './call-log.js';
export type {
  CallOutcome,
  CallRecord,
  NetworkTransport,
  SessionRecord,
  TelemetrySide,
} from './call-record.js';
export { type CallSpan, type CallTracer, createCallTracer, type TracerOptions } from './call-tracer.js';
export { createLog, type LogDestination, type LogLevel, type LogOptions } from './create-log.js';
export { logHostEvent } from './host-log.js';
export { createMetrics, type Metrics, type MetricsOptions } from './metrics.js';
export { type ObserveOptions, observeService } from './observe-service.js';
export { createRedactor, type Redactor } from './redactor.js';

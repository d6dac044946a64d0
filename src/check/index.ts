/** The referee: `isthmus/check`. */

export type {
  Check,
  Counts,
  EraReport,
  Finding,
  Grade,
  Level,
  Outcome,
  Report,
  Suite,
  Transport,
  WireLine,
} from './model.js';
export { SUITES } from './model.js';
export { type CheckOptions, checkServer, type Progress } from './run/check-server.js';
export type { Patience } from './run/table.js';
export { CHECKS } from './suites/index.js';
export type { HttpTarget, Pipe, StreamTarget, Target } from './wire/target.js';
export { commandTarget, httpTarget, socketTarget, streamTarget } from './wire/targets.js';

/** The referee: `isthmus/check`. docs/check.md explains it. */

export type {
  Check,
  CheckTransport,
  Counts,
  EraReport,
  Finding,
  Grade,
  Level,
  Outcome,
  Report,
  Suite,
  WireLine,
} from './model.js';
export { SUITES } from './model.js';
export { type SarifOptions, toHtml, toJson, toJunit, toSarif } from './report/index.js';
export type { Accepted, Baseline } from './run/baseline.js';
export { parseBaseline } from './run/baseline-file.js';
export type { CheckPatience } from './run/check-context.js';
export { type CheckOptions, checkServer, type Progress } from './run/check-server.js';
export { type FailOn, type RunVerdict, verdictOf } from './run/judge-run.js';
export { CHECKS } from './suites/index.js';
export { assertSound, type SoundOptions } from './testing/assert-sound.js';
export { NotSound } from './testing/complain.js';
export type { Subject, SubjectOrLater } from './testing/subject.js';
export {
  type RegisterTest,
  type TestContext,
  type TestServerOptions,
  testServer,
} from './testing/test-server.js';
export { checkThrough, type ThroughReport } from './through/check-through.js';
export type { Difference } from './through/compare.js';
export { type CheckedBridgeOptions, type StartedBridge, startBridge } from './through/start-bridge.js';
export type { CheckTarget, HttpTarget, Pipe, StreamTarget } from './wire/targets.js';
export {
  commandTarget,
  httpTarget,
  type ServerTargetOptions,
  serverTarget,
  socketTarget,
  streamTarget,
} from './wire/targets.js';

/**
 * The referee: `isthmus/check`. docs/check.md explains it.
 * @module
 */

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
export { toHtml } from './report/html/page.js';
export { toJson } from './report/json.js';
export { toJunit } from './report/junit.js';
export { type SarifOptions, toSarif } from './report/sarif.js';
export { type Accepted, type Baseline, parseBaseline } from './run/baseline.js';
export type { CheckPatience } from './run/check-context.js';
export { type CheckOptions, checkServer, type Progress } from './run/check-server.js';
export { type FailOn, type RunVerdict, verdictOf } from './run/grade.js';
export { CHECKS } from './suites/index.js';
export type { Subject, SubjectOrLater } from './testing/assert-sound.js';
export { assertSound, NotSound, type SoundOptions } from './testing/assert-sound.js';
export {
  type RegisterTest,
  type TestContext,
  type TestServerOptions,
  testServer,
} from './testing/test-server.js';
export {
  type CheckedBridgeOptions,
  checkThrough,
  type StartedBridge,
  startBridge,
  type ThroughReport,
} from './through/check-through.js';
export type { Difference } from './through/differences.js';
export { readSigningKey, type SigningKey } from './tokens/sign-jwt.js';
export { type CheckTokens, TOKEN_KINDS, type TokenKind, type TokenSigner } from './tokens/token-set.js';
export type { CheckTarget, HttpTarget, Pipe, StreamTarget } from './wire/targets.js';
export {
  commandTarget,
  httpTarget,
  type ServerTargetOptions,
  serverTarget,
  socketTarget,
  streamTarget,
} from './wire/targets.js';

/**
 * Serves any server to clients of both eras: `isthmus/bridge`. Use it with `serve` of `isthmus/server`.
 * @module
 */

export {
  type Upstream,
  type UpstreamOptions,
  type UpstreamSessionOptions,
  upstreamAt,
} from '../client/connect.js';
export { IsthmusError, ProtocolError } from '../errors.js';
export type { BridgeOptions } from './bridge-options.js';
export { type Bridge, createBridge } from './create-bridge.js';
export { CONVERSATION } from './forwarded-call.js';
export type { UpstreamFacts } from './upstream-facts.js';

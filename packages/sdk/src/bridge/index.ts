/** Any server, for clients of both eras: `isthmus/bridge`. Serve it with `serve` of `isthmus/server`. */

export {
  type Upstream,
  type UpstreamOptions,
  type UpstreamSessionOptions,
  upstreamAt,
} from '../client/connect.js';
export { IsthmusError, ProtocolError } from '../errors.js';
export { CONVERSATION } from './carried-params.js';
export { type Bridge, type BridgeOptions, createBridge } from './create-bridge.js';
export type { UpstreamFacts } from './upstream-facts.js';

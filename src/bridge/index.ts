/** Any server, for clients of both eras: `isthmus/bridge`. Serve it with `serve` of `isthmus/server`. */

export { type SeatOptions, type Upstream, type UpstreamOptions, upstreamAt } from '../client/upstream.js';
export { IsthmusError, ProtocolError } from '../errors.js';
export { CONVERSATION } from './carried-params.js';
export { type Bridge, type BridgeOptions, createBridge } from './create-bridge.js';
export type { FarFacts } from './far-facts.js';

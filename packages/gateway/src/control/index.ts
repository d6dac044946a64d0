/** The private socket through which commands look at a running gateway and control it. */
export type { LogLine } from '../log-tail.js';
export { type ControlAddress, controlFolders, controlPath } from './control-address.js';
export {
  type Attached,
  type ControlClient,
  type ControlClientOptions,
  controlClient,
  isUnreachable,
} from './control-client.js';
export {
  type AttachHandler,
  type AttachRequest,
  type Control,
  type OpenControlOptions,
  openControl,
} from './control-server.js';
export { type FoundGateway, type ListGatewaysOptions, listGateways } from './list-gateways.js';
export { withPathLock } from './path-lock.js';
export type { Controlled, LogsOptions, ReloadReport } from './protocol.js';
export { sweepSockets } from './sweep-sockets.js';

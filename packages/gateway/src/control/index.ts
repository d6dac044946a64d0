/** The private socket through which commands look at a running gateway and control it. */
export type { LogLine } from '../log-tail.js';
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
export {
  type ControlAddress,
  controlFolders,
  controlPath,
  type FoundGateway,
  type ListGatewaysOptions,
  listGateways,
} from './find-gateways.js';
export { withPathLock } from './path-lock.js';
export { sweepSockets } from './private-socket.js';
export type { Controlled, LogsOptions, ReloadReport } from './protocol.js';

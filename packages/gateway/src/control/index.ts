/** The private socket through which commands look at a running gateway and control it. */
export type { LogLine } from '../log-tail.js';
export type { AttachHandler, AttachRequest } from './attach-upgrade.js';
export {
  type Attached,
  type ControlClient,
  type ControlClientOptions,
  controlClient,
} from './control-client.js';
export { askControl, isUnreachable, linesOf, openControlRequest } from './control-request.js';
export {
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
export type { ConsoleAccess, ConsoleLink, Controlled, LogsOptions, ReloadReport } from './protocol.js';

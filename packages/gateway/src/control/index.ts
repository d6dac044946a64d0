/** The private socket through which a running gateway is looked at and told what to do. */
export type { LogLine } from '../log-tail.js';
export {
  type Attached,
  type ConnectControlOptions,
  type ControlClient,
  connectControl,
} from './connect-control.js';
export { type ControlAddress, controlFolders, controlPath } from './control-address.js';
export type { AttachHandler, AttachRequest } from './control-conversation.js';
export type { Controlled, LogsOptions, ReloadReport } from './controlled.js';
export { type FoundGateway, type ListGatewaysOptions, listGateways } from './list-gateways.js';
export { type Control, type OpenControlOptions, openControl } from './open-control.js';
export { withPathLock } from './path-lock.js';
export { sweepSockets } from './sweep-sockets.js';

import type { Cancellation } from '../async/abort.js';
import type { Tenant } from '../era/client/tenant.js';
import type { TenantCaller } from '../era/client/tenant-caller.js';
import type { IsthmusError } from '../errors.js';
import type { Era, OutgoingCall } from '../exchange/call.js';
import type { Connector } from '../exchange/connection.js';
import { negotiate } from './negotiation/negotiate.js';
import type { ConnectSettings } from './options.js';

/** Opens one connection after the other for a tenant. The optional members are for hosts, which keep processes. */
export interface ConnectionSource {
  /** The name of the server in errors. */
  readonly label: string;
  open(options: {
    readonly remembered: Era | undefined;
    readonly signal: Cancellation;
  }): Promise<TenantCaller>;
  /** In a pool of processes: the caller for the next call. Default: the connection that was opened. */
  pick?(): TenantCaller | undefined;
  /** How the last process ended, while there is no connection. */
  lastExit?():
    | { readonly reason: string; readonly stderrTail: string; readonly generation: number }
    | undefined;
  /** Counts a call that waits for a connection, until the returned function is called. Throws when too many wait. */
  waitForConnection?(): () => void;
  /** Whether a new connection is opened for subscriptions after one ended with this error. Default: yes. */
  reopensAfterEnd?(error: IsthmusError): boolean;
  /** Whether opening for subscriptions is tried again after it failed. Default: no. */
  reopensAfterFailure?(): boolean;
  /** Whether a call may run twice although its caller did not say so. Default: no. */
  isSafe?(call: OutgoingCall): boolean;
}

/** Opens connections with one tenant each. */
export function ownConnection(connector: Connector, given: ConnectSettings): ConnectionSource {
  const settings = withExtensions(given, connector.extensions);
  const { info, answers, extensions, onLog, onElicited, onNotification } = settings;
  const { label } = connector;
  const tenant: Tenant = {
    ...{ label, info, answers, extensions, onLog, onElicited, onNotification },
    ownsConnection: true,
    callers: new Set(),
  };
  return {
    label,
    open: async (options) => (await negotiate(connector, settings, options)).join(tenant),
  };
}

/** An extension that a connection uses is declared (AUTH-C-090). What the caller declares wins. */
function withExtensions(settings: ConnectSettings, used: Connector['extensions']): ConnectSettings {
  if (!used) return settings;
  const { capabilities } = settings;
  return {
    ...settings,
    extensions: { ...used, ...settings.extensions },
    capabilities: { ...capabilities, extensions: { ...used, ...capabilities.extensions } },
  };
}

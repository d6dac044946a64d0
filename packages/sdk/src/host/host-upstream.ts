import { type Upstream, type UpstreamOptions, upstreamAt } from '../client/connect.js';
import type { EraCache } from '../client/negotiation/era-cache.js';
import type { ReconnectingCaller } from '../client/reconnecting-caller.js';
import {
  given,
  type ProcessModel,
  type ServerSettings,
  type SocketSpec,
  type UrlSpec,
} from '../config/server-spec.js';
import type { Tap } from '../exchange/tap.js';
import type { OwnedConversationOptions } from './conversation.js';
import { connectorOfSpec, type LoginSource } from './spec-connector.js';

/** A server of a host as the upstream of a bridge. */
export function hostUpstream(
  label: string,
  model: () => ProcessModel,
  converse: (options: OwnedConversationOptions) => ReconnectingCaller,
): Upstream {
  return {
    label,
    get serves() {
      const processes = model();
      if (processes === 'per-conversation') return 'one';
      return processes === 'per-principal' ? 'principal' : 'everybody';
    },
    open({ name, principal, info, capabilities, answers, onLog, onElicited, onNotification, onReopened }) {
      const anonymous = model() === 'per-principal' ? { principal: NO_PRINCIPAL } : {};
      return converse({
        ...{ name, capabilities, answers, onElicited, onNotification, onReopened },
        ...(principal === undefined ? anonymous : { principal }),
        ...(info && { info }),
        ...(onLog && { onLog }),
      });
    },
  };
}

/** Clients without a principal share one process. A NUL never occurs in a real principal: a header cannot contain it. */
export const NO_PRINCIPAL = '\u0000nobody';

export interface RemoteUpstreamOptions {
  readonly cache?: EraCache | false | undefined;
  readonly logins?: LoginSource;
  /** Sees what goes over the connections. */
  readonly tap?: Tap | undefined;
}

/** The server at a URL or a socket as the upstream of a bridge. Its label is the name: the address may contain a secret. */
export function upstreamOfSpec(
  spec: UrlSpec | SocketSpec,
  { cache, logins, tap }: RemoteUpstreamOptions = {},
): Upstream {
  const options = { ...upstreamOptionsOf(spec), ...given({ cache }) };
  return upstreamAt(connectorOfSpec(spec, { label: spec.name, logins, tap }), options);
}

export function upstreamOptionsOf(spec: ServerSettings): UpstreamOptions {
  const { mode, timeoutMs, connectTimeoutMs, silenceMs, bootMs, maxRounds } = spec;
  return given({ mode, timeoutMs, connectTimeoutMs, silenceMs, bootMs, maxRounds });
}

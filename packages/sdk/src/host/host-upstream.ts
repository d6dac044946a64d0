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
import type { OwnedConversationOptions } from './conversation.js';
import { connectorOfSpec } from './spec-connector.js';

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
    open({ name, principal, info, capabilities, answers, onLog, onElicited, onReopened }) {
      const anonymous = model() === 'per-principal' ? { principal: NO_PRINCIPAL } : {};
      return converse({
        ...{ name, capabilities, answers, onElicited, onReopened },
        ...(principal === undefined ? anonymous : { principal }),
        ...(info && { info }),
        ...(onLog && { onLog }),
      });
    },
  };
}

/** Clients without a principal share one process. A NUL never occurs in a real principal: a header cannot contain it. */
export const NO_PRINCIPAL = '\u0000nobody';

/** The server at a URL or a socket as the upstream of a bridge. Its label is the name: the address may contain a secret. */
export function upstreamOfSpec(spec: UrlSpec | SocketSpec, cache?: EraCache | false): Upstream {
  const options = { ...upstreamOptionsOf(spec), ...given({ cache }) };
  return upstreamAt(connectorOfSpec(spec, { label: spec.name }), options);
}

export function upstreamOptionsOf(spec: ServerSettings): UpstreamOptions {
  const { mode, timeoutMs, connectTimeoutMs, silenceMs, bootMs, maxRounds } = spec;
  return given({ mode, timeoutMs, connectTimeoutMs, silenceMs, bootMs, maxRounds });
}

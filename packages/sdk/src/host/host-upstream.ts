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

/** A server of a host, for a bridge: conversations on behalf of others. */
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
      const nobody = model() === 'per-principal' ? { principal: NOBODY } : {};
      return converse({
        ...{ name, capabilities, answers, onElicited, onReopened },
        ...(principal === undefined ? nobody : { principal }),
        ...(info && { info }),
        ...(onLog && { onLog }),
      });
    },
  };
}

/** Callers without a principal share one process. The NUL keeps the name apart from principals: no header can hold it. */
export const NOBODY = '\u0000nobody';

/** The server at a URL or a socket, for a bridge. It is called by its name: its address may contain a secret. */
export function upstreamOfSpec(spec: UrlSpec | SocketSpec, cache?: EraCache | false): Upstream {
  const options = { ...upstreamOptionsOf(spec), ...given({ cache }) };
  return upstreamAt(connectorOfSpec(spec, { label: spec.name }), options);
}

export function upstreamOptionsOf(spec: ServerSettings): UpstreamOptions {
  const { mode, timeoutMs, connectTimeoutMs, silenceMs, bootMs, maxRounds } = spec;
  return given({ mode, timeoutMs, connectTimeoutMs, silenceMs, bootMs, maxRounds });
}

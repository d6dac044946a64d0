import type { Upstream } from '../client/connect.js';
import type { ReconnectingCaller } from '../client/reconnecting-caller.js';
import type { OwnedConversationOptions } from './conversation.js';
import type { ProcessModel } from './definition.js';

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

/** Whoever is nobody in particular shares with all who are, and with no principal: no header can hold this. */
export const NOBODY = '\u0000nobody';

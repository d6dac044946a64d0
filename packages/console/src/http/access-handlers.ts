import type { ProxyTrust } from '@isthmus/sdk/internal/transport/http-server/admission/trust-proxy.js';
import type { AccessControl } from '../access/access.js';
import { sourceOf } from '../access/try-limit.js';
import type { EnterRequest } from '../contract.js';
import { optional, readFields, text } from './read-fields.js';
import type { Handlers } from './router.js';

/** How people come in and leave, the same for both faces. `onEntered` is for the terminal or the log. */
export function accessHandlers(
  access: AccessControl,
  onEntered?: (who: string) => void,
  trusts?: ProxyTrust,
): Handlers {
  return {
    async 'POST enter'({ body, exchange }) {
      const secret = optional(text(MAX_SECRET));
      const given = readFields<EnterRequest>(body, { link: secret, apiKey: secret, jwt: secret });
      const entered = await access.enter(given, sourceOf(exchange, trusts));
      onEntered?.(entered.who);
      return entered;
    },
    'POST leave': ({ key }) => access.leave(key),
  };
}

/** A JWT with many claims fits. */
const MAX_SECRET = 16 * 1024;

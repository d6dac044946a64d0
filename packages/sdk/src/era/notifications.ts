import type { Change } from '../exchange/call.js';
import type { JsonObject } from '../wire/json-rpc.js';

/** What a notification of a server says has changed; `undefined` for every other notification. */
export function changeOf(method: string, params: JsonObject): Change | undefined {
  switch (method) {
    case 'notifications/tools/list_changed':
      return { kind: 'tools' };
    case 'notifications/prompts/list_changed':
      return { kind: 'prompts' };
    case 'notifications/resources/list_changed':
      return { kind: 'resources' };
    case 'notifications/resources/updated':
      return typeof params['uri'] === 'string' ? { kind: 'resource', uri: params['uri'] } : undefined;
    default:
      return undefined;
  }
}

/** SUB-016: an update may name a part of what was subscribed to. */
export function isPartOf(uri: string, whole: string): boolean {
  return uri === whole || uri.startsWith(whole.endsWith('/') ? whole : `${whole}/`);
}

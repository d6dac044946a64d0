import type { Era } from '@isthmus/sdk/internal/exchange/call.js';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Reply } from '../conversation/conversation.js';
import type { Frame } from '../wire/transcript.js';

/** The properties of a server in one era, as the survey found them. */
export interface Facts {
  readonly era: Era;
  readonly revision: string;
  /** True over HTTP with SSE (2024-11-05) instead of Streamable HTTP. */
  readonly isSse: boolean;
  /** The result of `server/discover` or `initialize`. */
  readonly hello: JsonObject;
  readonly capabilities: JsonObject;
  readonly serverInfo: JsonObject | undefined;
  /** All pages, as the server sent them. */
  readonly tools: readonly JsonObject[];
  readonly resources: readonly JsonObject[];
  readonly templates: readonly JsonObject[];
  readonly prompts: readonly JsonObject[];
  /** Announced lists that failed, with the answer of the server. */
  readonly failedLists: readonly FailedList[];
  /** An error lacked the id of its request. */
  readonly hasLooseErrors: boolean;
  /** Tools that may be called, with arguments to call them with. */
  readonly callable: readonly CallableTool[];
  /** The tool whose call ended the server, or the connection. */
  readonly killedBy: string | undefined;
  /** Why the other tools may not be called. */
  readonly objections: readonly string[];
  /** The ordinary requests of the survey, with their replies. */
  readonly walkthrough: readonly WalkthroughStop[];
}

export interface FailedList {
  readonly method: string;
  /** The code of the error. Without it there was no answer. */
  readonly code?: number;
  /** For reports. */
  readonly said: string;
}

export interface CallableTool {
  readonly name: string;
  readonly tool: JsonObject;
  readonly args: JsonObject;
}

export interface WalkthroughStop {
  readonly method: string;
  readonly params: JsonObject;
  readonly reply: Reply;
  /** The progress token of the request. */
  readonly progressToken: number;
  /** Legacy: the requests of the server during this request. */
  readonly questions: readonly Frame[];
}

/** Whether a capability was announced, for example `resources.subscribe`. */
export function hasCapability(capabilities: JsonObject, path: string): boolean {
  let place: unknown = capabilities;
  for (const step of path.split('.')) {
    place = typeof place === 'object' && place !== null ? (place as JsonObject)[step] : undefined;
  }
  return place !== undefined && place !== null && place !== false;
}

/** Whether the plain call of a tool reported an error during the survey. */
export function reportsError({ walkthrough }: Facts, tool: string): boolean {
  return walkthrough.some(
    ({ method, params, reply }) =>
      method === 'tools/call' &&
      params['name'] === tool &&
      reply.kind === 'result' &&
      reply.result['isError'] === true,
  );
}

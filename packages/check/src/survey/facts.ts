import type { Era } from '@isthmus/sdk/internal/exchange/call.js';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Reply } from '../conversation/conversation.js';
import type { Frame } from '../wire/transcript.js';

/** What a server is in one era, as found on the way in. */
export interface Facts {
  readonly era: Era;
  readonly revision: string;
  /** Over HTTP with SSE, as of 2024-11-05, and not over Streamable HTTP. */
  readonly isSse: boolean;
  /** The result of `server/discover` or `initialize`. */
  readonly hello: JsonObject;
  readonly capabilities: JsonObject;
  readonly serverInfo: JsonObject | undefined;
  /** All pages, as the server sent them; empty where it has none. */
  readonly tools: readonly JsonObject[];
  readonly resources: readonly JsonObject[];
  readonly templates: readonly JsonObject[];
  readonly prompts: readonly JsonObject[];
  /** Lists that are announced and cannot be had, with what was answered instead. */
  readonly failedLists: readonly { readonly method: string; readonly said: string }[];
  /** An error came without the id of its request. */
  readonly hasLooseErrors: boolean;
  /** Tools that may be called, with arguments to call them with. */
  readonly callable: readonly CallableTool[];
  /** The tool whose call ended the server, or the connection. */
  readonly killedBy: string | undefined;
  /** Why the others are not. */
  readonly objections: readonly string[];
  /** Ordinary requests that were made, and what came of them. */
  readonly tour: readonly WalkthroughStop[];
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
  /** The token it was asked to report progress under. */
  readonly progressToken: number;
  /** Legacy: what the server asked meanwhile, where nothing else was under way. */
  readonly questions: readonly Frame[];
}

/** `resources.subscribe`, say: whether a capability was announced. */
export function hasCapability(capabilities: JsonObject, path: string): boolean {
  let place: unknown = capabilities;
  for (const step of path.split('.')) {
    place = typeof place === 'object' && place !== null ? (place as JsonObject)[step] : undefined;
  }
  return place !== undefined && place !== null && place !== false;
}

import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { FrameView } from '../contract.js';

/** A message of a server, and the method that it belongs to. */
export interface MessageToJudge {
  readonly kind: 'request' | 'result' | 'error' | 'notification';
  readonly method: string;
  readonly revision: string;
  readonly message: JsonObject;
}

/** Says what does not fit the schema of the revision. Undefined: there is no schema of this revision. */
export type JudgeMessage = (message: MessageToJudge) => Promise<readonly string[] | undefined>;

/** What of a frame does not fit the schema. Undefined: it is not judged, because it is not whole, or not of a server. */
export async function schemaProblems(
  { kind, direction, method = '', text, cut, redacted }: FrameView,
  revision: string | undefined,
  judge: JudgeMessage,
): Promise<readonly string[] | undefined> {
  const isMessage = kind === 'request' || kind === 'result' || kind === 'error' || kind === 'notification';
  if (!isMessage || direction === 'to-server' || revision === undefined) return undefined;
  if (redacted || cut !== undefined || text.length > MAX_JUDGED) return undefined;
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isJsonObject(message)) return undefined;
  return (await judge({ kind, method, revision, message }))?.slice(0, MAX_PROBLEMS);
}

const MAX_JUDGED = 4_000_000;
const MAX_PROBLEMS = 20;

import { createHash } from 'node:crypto';
import type { Call, Era, Peer } from '../../exchange/call.js';
import { isJsonObject, type JsonObject } from '../../wire/json-rpc.js';
import type { ForwardContext } from '../forwarded-call.js';

/** A task of the server behind the bridge, which a task of the bridge stands for. */
export interface UpstreamTask {
  readonly era: Era;
  readonly taskId: string;
}

/** What is needed to follow the task of the server after this process has ended. */
export interface KeptTask {
  readonly task: UpstreamTask;
  readonly peer: Peer;
}

/** Keeps with the task of a client which task of the server it stands for. */
export function keepTask({ task, peer }: Call, { upstream, place }: ForwardContext, taskId: string): void {
  if (task?.id === undefined || place === undefined) return;
  const { era, revision, capabilities, info } = peer;
  const note = {
    upstream: { place: digest(place), era: upstream.era, taskId },
    client: { era, revision, capabilities, ...(info && { info }) },
  } as unknown as JsonObject;
  // A client that declares very much must not fill the store.
  if (JSON.stringify(note).length <= MAX_NOTE) task.keep(note);
}

/** Reads what `keepTask` has kept. Undefined: there is nothing, or the task is one of another server. */
export function readKept(
  note: JsonObject | undefined,
  principal: string | undefined,
  place: string | undefined,
): KeptTask | undefined {
  const { upstream, client } = note ?? {};
  if (!isJsonObject(upstream) || !isJsonObject(client)) return undefined;
  // The id of a task can be a secret: only the server that gave it is told.
  if (place === undefined || upstream['place'] !== digest(place)) return undefined;
  return {
    task: { era: upstream['era'] as Era, taskId: String(upstream['taskId']) },
    peer: { info: undefined, ...client, principal } as unknown as Peer,
  };
}

/** The address may contain a secret. */
function digest(place: string): string {
  return createHash('sha256').update(place).digest('base64url');
}

/** In characters of JSON. */
const MAX_NOTE = 16_384;

/** Answers: their descriptions, their requests, and judgements that many checks share. */

import { isLegacyRevision, isModernRevision, shapesOf } from '@isthmus/sdk/internal/era/revisions.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Reply } from '../../conversation/conversation.js';
import type { WireLine } from '../../model.js';
import type { CheckContext } from '../../run/check-context.js';
import { causeIn } from '../../run/failure-cause.js';
import type { Revision } from '../../shapes/index.js';
import { type Frame, membersOf, paramsOf, type WireTranscript } from '../../wire/transcript.js';

/** `error -32601 (Method not found)`, `a result with tools, nextCursor`, `nothing: no answer within 5000 ms`. */
export function inWords(reply: Reply): string {
  if (reply.kind === 'silence') return `nothing: ${reply.why}`;
  if (reply.kind === 'error') return `error ${reply.error.code} (${short(reply.error.message)})`;
  const members = Object.keys(reply.result).filter((key) => key !== '_meta');
  return members.length === 0 ? 'an empty result' : `a result with ${members.join(', ')}`;
}

/** Fails unless the answer is an error with one of these codes. An empty list allows any code. */
export function needRefusal(
  context: CheckContext,
  reply: Reply,
  codes: readonly number[],
  what: string,
): string {
  const seen = `${what} was answered with ${inWords(reply)}`;
  if (reply.kind === 'error' && (codes.length === 0 || codes.includes(reply.error.code))) return seen;
  const expected = codes.length === 0 ? 'an error' : `error ${codes.join(' or ')}`;
  return context.fail(seen, expected, causeIn(reply));
}

export function short(text: string, most = 120): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}

/** The first few items, and the number of the others. */
export function several(items: readonly string[], most = 3): string {
  const rest = items.length - most;
  return items.slice(0, most).join('; ') + (rest > 0 ? `; and ${rest} more` : '');
}

/** The method of a request that every server of the era must answer, without side effects. */
export function harmless(context: CheckContext): string {
  return context.era === 'modern' ? 'server/discover' : 'ping';
}

export interface HeardAnswer {
  readonly frame: Frame;
  /** Absent for an answer without a request. */
  readonly request: Frame | undefined;
  readonly method: string;
  /** Empty for errors. */
  readonly result: JsonObject;
  /** Empty for results. */
  readonly error: JsonObject;
}

/** Results and errors, in order. Batches are left out. */
export function answersIn(transcripts: readonly WireTranscript[]): HeardAnswer[] {
  return transcripts.flatMap(({ frames }) =>
    frames.flatMap((frame, index): HeardAnswer[] => {
      if (frame.from !== 'server' || (frame.kind !== 'result' && frame.kind !== 'error')) return [];
      const request = requestOf(frames.slice(0, index), frame);
      const { result, error } = membersOf(frame);
      return [
        {
          frame,
          request,
          method: request?.method ?? '',
          result: isJsonObject(result) ? result : {},
          error: isJsonObject(error) ? error : {},
        },
      ];
    }),
  );
}

export function resultsIn(transcripts: readonly WireTranscript[]): HeardAnswer[] {
  return answersIn(transcripts).filter(({ frame, request }) => frame.kind === 'result' && request);
}

export function errorsIn(transcripts: readonly WireTranscript[]): HeardAnswer[] {
  return answersIn(transcripts).filter(({ frame }) => frame.kind === 'error');
}

/** The messages that show a failure, as they were on the wire. */
export function evidence(...frames: readonly (Frame | undefined)[]): { readonly wire: readonly WireLine[] } {
  return {
    wire: frames.flatMap((frame) => {
      if (!frame) return [];
      const { from, atMs, text } = frame;
      return [{ from, atMs, text: text.length > MOST_CHARS ? `${text.slice(0, MOST_CHARS)}…` : text }];
    }),
  };
}

/** The request in a few words: `tools/call echo`, `resources/read demo://clock`. */
export function nameOf({ method, request }: HeardAnswer): string {
  const { name, uri } = request ? paramsOf(request) : {};
  const about = name ?? uri;
  return typeof about === 'string' ? `${method} ${short(about, 60)}` : method;
}

/** The revision. Skips if its shapes are unknown. */
export function knownRevision(context: CheckContext): Revision {
  const { revision } = context;
  if (isLegacyRevision(revision)) return shapesOf(revision);
  if (isModernRevision(revision)) return revision;
  return context.skip(`the shapes of revision ${revision} are not known`);
}

const MOST_CHARS = 2000;

/** The last request with this id, over HTTP preferably of the same exchange. */
function requestOf(before: readonly Frame[], answer: Frame): Frame | undefined {
  const id = membersOf(answer)['id'];
  const asked = before.filter((frame) => frame.from === 'check' && frame.kind === 'request');
  const own = asked.filter(({ exchange }) => exchange !== undefined && exchange === answer.exchange);
  return own.findLast((frame) => frame.id === id) ?? asked.findLast((frame) => frame.id === id);
}

/** All matching messages of the server in the well-behaved conversations of this era. */
export function saidByServer(context: CheckContext, match: (frame: Frame) => boolean): Frame[] {
  return context.transcripts.flatMap((transcript) =>
    transcript.frames.filter((frame) => frame.from === 'server' && match(frame)),
  );
}

export function isNotification({ kind }: Frame): boolean {
  return kind === 'notification';
}

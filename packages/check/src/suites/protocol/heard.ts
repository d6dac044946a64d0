/** What was heard in polite conversations, each answer beside its request. */
import { isLegacyRevision, isModernRevision, shapesOf } from '@isthmus/sdk/internal/era/revisions.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { WireLine } from '../../model.js';
import type { CheckContext } from '../../run/check-context.js';
import type { Revision } from '../../shapes/index.js';
import { type Frame, membersOf, paramsOf, type WireTranscript } from '../../wire/transcript.js';
import { short } from './answers.js';

export interface HeardAnswer {
  readonly frame: Frame;
  /** Absent where nobody had asked. */
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

/** Whatever the server said in messages of a kind. */
export function framesIn(transcripts: readonly WireTranscript[], kind: Frame['kind']): Frame[] {
  return transcripts.flatMap(({ frames }) =>
    frames.filter((frame) => frame.from === 'server' && frame.kind === kind),
  );
}

/** The lines that a failure is about. */
export function evidence(...frames: readonly (Frame | undefined)[]): { readonly wire: readonly WireLine[] } {
  return {
    wire: frames.flatMap((frame) =>
      frame ? [{ from: frame.from, atMs: frame.atMs, text: short(frame.text, MOST_CHARS) }] : [],
    ),
  };
}

/** `tools/call echo`, `resources/read demo://clock`: what was asked for. */
export function nameOf({ method, request }: HeardAnswer): string {
  const { name, uri } = request ? paramsOf(request) : {};
  const about = name ?? uri;
  return typeof about === 'string' ? `${method} ${short(about, 60)}` : method;
}

/** The revision, where its shapes are known; skips otherwise. */
export function knownRevision(table: CheckContext): Revision {
  const { revision } = table;
  if (isLegacyRevision(revision)) return shapesOf(revision);
  if (isModernRevision(revision)) return revision;
  return table.skip(`the shapes of revision ${revision} are not known`);
}

const MOST_CHARS = 2000;

/** The last that was asked under this id; over HTTP, in the same exchange if there is one. */
function requestOf(before: readonly Frame[], answer: Frame): Frame | undefined {
  const id = membersOf(answer)['id'];
  const asked = before.filter((frame) => frame.from === 'check' && frame.kind === 'request');
  const own = asked.filter(({ exchange }) => exchange !== undefined && exchange === answer.exchange);
  return own.findLast((frame) => frame.id === id) ?? asked.findLast((frame) => frame.id === id);
}

/** What was said in polite conversations, put together again: requests with their answers. */
import type { JsonObject, RequestId } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { CheckContext } from '../../run/check-context.js';
import { type Frame, membersOf, paramsOf, type WireTranscript } from '../../wire/transcript.js';

export interface Exchange {
  readonly method: string;
  readonly params: JsonObject;
  readonly id: RequestId;
  readonly request: Frame;
  readonly answer: Frame;
  /** `undefined` where it is an error. */
  readonly result: JsonObject | undefined;
}

/** All requests of the referee that were answered. */
export function exchangesOf(transcripts: readonly WireTranscript[]): Exchange[] {
  return transcripts.flatMap((transcript) => {
    const open = new Map<RequestId, Frame>();
    const found: Exchange[] = [];
    for (const frame of transcript.frames) {
      if (frame.id === undefined) continue;
      if (frame.from === 'check' && frame.kind === 'request') open.set(frame.id, frame);
      const request = frame.from === 'server' ? open.get(frame.id) : undefined;
      if (!request || (frame.kind !== 'result' && frame.kind !== 'error')) continue;
      open.delete(frame.id);
      found.push({
        method: request.method!,
        params: paramsOf(request),
        id: frame.id,
        request,
        answer: frame,
        result: frame.kind === 'result' ? (membersOf(frame)['result'] as JsonObject) : undefined,
      });
    }
    return found;
  });
}

/** Everything of one kind that the server has said in polite conversations of this era. */
export function saidByServer(table: CheckContext, match: (frame: Frame) => boolean): Frame[] {
  return table.transcripts.flatMap((transcript) =>
    transcript.frames.filter((frame) => frame.from === 'server' && match(frame)),
  );
}

/** A frame as evidence. */
export function evidence(...frames: readonly Frame[]) {
  return {
    wire: frames.map(({ from, atMs, text }) => ({
      from,
      atMs,
      text: text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text,
    })),
  };
}

const SHOWN_CHARS = 2000;

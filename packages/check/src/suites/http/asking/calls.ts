import type { CheckContext } from '../../../run/check-context.js';
import type { WalkthroughStop } from '../../../survey/facts.js';
import type { PeerHttpAnswer } from '../../../wire/http-peer.js';
import { paramsOf } from '../../../wire/transcript.js';

/** A call that reported progress when the server was looked at; the quickest. Skips where there is none. */
export function reportingCall(table: CheckContext): WalkthroughStop {
  return reportingCalls(table)[0]!;
}

/** The one that took longest: there is time to hang up. */
export function longestCall(table: CheckContext): WalkthroughStop {
  return reportingCalls(table).at(-1)!;
}

function reportingCalls(table: CheckContext): readonly WalkthroughStop[] {
  const calls = table.facts.tour
    .filter(({ method, reply, questions }) => {
      if (method !== 'tools/call' || reply.kind !== 'result' || questions.length > 0) return false;
      if (reply.result['resultType'] === 'input_required') return false;
      return reply.notifications.some((frame) => frame.method === 'notifications/progress');
    })
    .sort((one, other) => one.reply.ms - other.reply.ms);
  return calls.length > 0 ? calls : table.skip('no tool that may be called reports progress');
}

/** The answers of the tour that were streams. Skips where there is none. */
export function streamsOf(
  table: CheckContext,
): readonly { readonly stop: WalkthroughStop; readonly http: PeerHttpAnswer }[] {
  const streams = table.facts.tour.flatMap((stop) => {
    const { http } = stop.reply;
    return http?.isStream && stop.reply.kind !== 'silence' ? [{ stop, http }] : [];
  });
  return streams.length > 0 ? streams : table.skip('no answer was a stream of events');
}

/** How a stop of the tour is called in a sentence: `tools/call of echo`. */
export function describeStop({ method, params }: WalkthroughStop): string {
  return `${method} of ${String(params['name'] ?? params['uri'])}`;
}

export function progressTokens(http: Pick<PeerHttpAnswer, 'frames'>): unknown[] {
  return http.frames
    .filter((frame) => frame.method === 'notifications/progress')
    .map((frame) => paramsOf(frame)['progressToken']);
}

/** A slow call that is cancelled while it runs. */

import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import {
  askAlive,
  type CheckConversation,
  type CheckRequestOptions,
  type Pending,
} from '../../../conversation/conversation.js';
import type { CheckContext } from '../../../run/check-context.js';
import { slowArguments } from '../../../survey/callable-tools.js';
import { type Frame, isAnswer, membersOf, paramsOf } from '../../../wire/transcript.js';

/** The duration of a cancelled call. */
export const SLOW_MS = 600;
/** On a busy machine the answer may be sent before the cancellation is read. Then longer calls are tried. */
export const TRIES_MS = [SLOW_MS, 1500, 4000] as const;
export const SHORT_MS = 300;
const SETTLE_MS = 80;

/** A known tool with an adjustable duration, or else one that was slow during the survey. */
export function needSlowTool(context: CheckContext): {
  readonly name: string;
  readonly params: (ms: number) => JsonObject;
} {
  const known = context.facts.callable.find(({ tool }) => slowArguments(tool, SLOW_MS) !== undefined);
  if (known) {
    const { name, tool } = known;
    return { name, params: (ms) => ({ name, arguments: slowArguments(tool, ms)! }) };
  }
  const seen = context.facts.walkthrough.find(
    ({ method, reply, questions }) =>
      method === 'tools/call' && reply.kind === 'result' && questions.length === 0 && reply.ms >= SLOW_MS,
  );
  if (!seen) return context.skip('no tool that may be called is known to take long');
  return { name: String(seen.params['name']), params: () => seen.params };
}

/** Modern HTTP has no cancellation notification: closing the stream cancels, and nothing can follow. */
export function needNotification(context: CheckContext): void {
  if (context.era === 'modern' && context.target.transport === 'http')
    context.skip('over modern HTTP a request is cancelled by closing its stream');
}

export function startSlow(
  context: CheckContext,
  conversation: CheckConversation,
  ms: number,
  options: CheckRequestOptions = {},
): Pending {
  return conversation.start('tools/call', needSlowTool(context).params(ms), {
    ms: ms + context.patience.answerMs,
    ...options,
  });
}

interface Cancelled {
  /**
   * The answer, if one came: `before` the cancellation was sent, `crossing` (the server may not have read it yet), or
   * `after` the server had read it.
   */
  readonly answer:
    | {
        readonly frame: Frame;
        readonly when: 'before' | 'crossing' | 'after';
        readonly cancelledAtMs: number;
      }
    | undefined;
  /** Progress that came after the server had read the cancellation. */
  readonly late: readonly Frame[];
  /** Progress between the answers to the requests just before and just after the cancellation. */
  readonly prompt: Frame | undefined;
  readonly watched: number;
}

/** Cancels a running call, and reads until the call would have ended. */
export async function cancelled(
  context: CheckContext,
  conversation: CheckConversation,
  slowMs: number,
): Promise<Cancelled> {
  const token = 9000 + slowMs;
  const { frames } = conversation.transcript;
  const pending = startSlow(context, conversation, slowMs, { progressToken: token });
  const isProgress = (frame: Frame) =>
    frame.method === 'notifications/progress' && paramsOf(frame)['progressToken'] === token;
  await Promise.race([conversation.transcript.waitFor(isProgress, SHORT_MS), pending.reply]);
  const cancelAt = frames.length;
  const began = context.clock.now();
  // The server reads in order. What it wrote before it read the cancellation comes before the answer to the request after
  // it. What comes between the two answers is its reaction to the cancellation.
  const before = conversation.peer && askAlive(conversation);
  const sent = pending.cancel('cancelled by isthmus-check');
  if (!conversation.peer) await sent;
  const [first, next] = await Promise.all([before, askAlive(conversation)]);
  // Over HTTP they use different connections, so the server needs time to read them.
  if (context.target.transport === 'http') await context.pause(SETTLE_MS);
  const readAt = next.frame && conversation.peer ? frames.indexOf(next.frame) + 1 : frames.length;
  const prompt =
    first?.frame &&
    frames
      .slice(frames.indexOf(first.frame) + 1, readAt)
      .find((frame) => frame.from === 'server' && isProgress(frame));
  // By then, work that was not cancelled is done, even with late timers.
  if (!frames.some((frame) => frame.from === 'server' && isAnswerTo(frame, pending)))
    await conversation.transcript.waitFor((frame) => isAnswerTo(frame, pending), 2 * slowMs);
  await context.pause(context.patience.quietMs);
  const late = frames.slice(readAt).filter((frame) => frame.from === 'server' && isProgress(frame));
  const at = frames.findIndex((frame) => frame.from === 'server' && isAnswerTo(frame, pending));
  const when = at < cancelAt ? 'before' : at < readAt ? 'crossing' : 'after';
  const answer =
    at < 0 ? undefined : ({ frame: frames[at]!, when, cancelledAtMs: frames[cancelAt]?.atMs ?? 0 } as const);
  return { answer, late, prompt, watched: context.clock.now() - began };
}

function isAnswerTo(frame: Frame, { id }: Pending): boolean {
  return isAnswer(frame) && membersOf(frame)['id'] === id;
}

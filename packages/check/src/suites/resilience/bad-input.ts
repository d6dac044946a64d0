import type { JsonObject, RequestId } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { aliveMethod, askAlive, type CheckConversation } from '../../conversation/conversation.js';
import { modernParams } from '../../conversation/envelope.js';
import type { Check } from '../../model.js';
import type { CheckContext } from '../../run/check-context.js';
import type { StreamPeer } from '../../wire/stream-peer.js';
import { type Frame, membersOf } from '../../wire/transcript.js';

/** Input that may break a server. `what` is for reports: `an empty line`. */
export interface BadInput {
  readonly what: string;
  readonly send: (peer: StreamPeer) => unknown;
}

interface AliveOptions {
  /** Waits a moment for such a frame. */
  readonly until?: (frame: Frame) => boolean;
  /** Waits a moment for any frame. */
  readonly listens?: boolean;
  /** The timeout of the next request. */
  readonly ms?: number;
}

/** Sends bad input, and fails unless the server answers the next request. Returns its other answers. */
export async function sendAndExpectAlive(
  context: CheckContext,
  conversation: CheckConversation,
  badInput: BadInput,
  { until, listens = false, ms }: AliveOptions = {},
): Promise<readonly Frame[]> {
  const peer = peerOf(context, conversation);
  const { transcript } = peer;
  const from = transcript.frames.length;
  await badInput.send(peer);
  const alive = await askAlive(conversation, ms);
  if (alive.kind === 'silence') {
    context.fail(
      `after ${badInput.what}, ${aliveMethod(conversation)} was not answered: ${alive.why}${describeEnd(peer)}`,
      'an answer to the next request',
    );
  }
  const said = () =>
    transcript.frames.slice(from).filter((frame) => isReaction(frame) && frame !== alive.frame);
  if (until && !said().some(until)) {
    await transcript.waitFor(
      (frame) => isReaction(frame) && until(frame) && transcript.frames.indexOf(frame) >= from,
      context.patience.quietMs,
    );
  } else if (listens) await context.pause(context.patience.quietMs);
  return said();
}

export function peerOf(context: CheckContext, conversation: CheckConversation): StreamPeer {
  return conversation.peer ?? context.skip('the target is not on a stream');
}

/** Bad input of one line. */
export function line(what: string, text: string | Buffer): BadInput {
  return { what, send: (peer) => peer.sendLine(text) };
}

/** A valid request, which a check may then change. */
export function requestOf(
  conversation: CheckConversation,
  id: RequestId,
  method: string,
  params: JsonObject = {},
): JsonObject {
  const all = conversation.era === 'modern' ? modernParams(params, conversation.revision, {}) : params;
  return { jsonrpc: '2.0', id, method, ...(Object.keys(all).length > 0 && { params: all }) };
}

/** A request without side effects. */
export function harmless(conversation: CheckConversation, id: RequestId): JsonObject {
  return requestOf(conversation, id, aliveMethod(conversation));
}

/** An unused id. */
export function newId(conversation: CheckConversation): string {
  return `input-${conversation.transcript.frames.length}-${conversation.transcript.lines.length}`;
}

export function codeOf(frame: Frame): unknown {
  const error = membersOf(frame)['error'];
  return (error as JsonObject | undefined)?.['code'];
}

export function answers(id: unknown): (frame: Frame) => boolean {
  return (frame) => isReaction(frame) && membersOf(frame)['id'] === id;
}

/** An error without an id. */
export function isLooseError(frame: Frame): boolean {
  return frame.kind === 'error' && frame.id === undefined;
}

/** The beginning of a frame. */
export function inShort(frame: Frame): string {
  return frame.text.length > 160 ? `${frame.text.slice(0, 160)}…` : frame.text;
}

/** A check that only expects the server to continue. */
export function survives(
  check: Pick<Check, 'id' | 'title' | 'hint'> & Partial<Check>,
  inputsOf: (conversation: CheckConversation) => readonly BadInput[],
): Check {
  return {
    suite: 'resilience',
    level: 'SHOULD',
    rules: [],
    reason: GOES_ON,
    era: 'none',
    over: ['command', 'socket'],
    lane: 'abuse',
    ...check,
    async run(context) {
      const conversation = await context.abuseConversation();
      const all = inputsOf(conversation);
      for (const badInput of all) await sendAndExpectAlive(context, conversation, badInput);
      return `continued after ${all.map(({ what }) => what).join(', ')}`;
    },
  };
}

const GOES_ON = 'One bad line must not end the other calls on the same connection.';

/** Notifications and requests of the server may come at any time. */
function isReaction(frame: Frame): boolean {
  return frame.from === 'server' && frame.kind !== 'notification' && frame.kind !== 'request';
}

/** The exit code and the last stderr line of a process. Empty for other targets. */
export function describeEnd(peer: StreamPeer): string {
  const notes = peer.transcript.lines.filter(({ from, text }) => from === 'note' && /exited with/.test(text));
  const last = notes.at(-1)?.text;
  const words = peer.process?.stderr().trim().split('\n').at(-1);
  return (last === undefined ? '' : `; ${last}`) + (words ? `; last stderr: ${words.slice(0, 200)}` : '');
}

/** Which of many requests have no answer, and which have two. */
interface CollectedAnswers {
  readonly missing: readonly string[];
  readonly twice: readonly string[];
}

/** Waits until all ids are answered, the connection has ended, or nothing has come for `ms`. */
export async function collectAnswers(
  context: CheckContext,
  { transcript }: StreamPeer,
  ids: readonly string[],
  { from = 0, ms = context.patience.answerMs }: { readonly from?: number; readonly ms?: number } = {},
): Promise<CollectedAnswers> {
  const counts = new Map(ids.map((id) => [id, 0]));
  let read = from;
  const isComplete = () => {
    for (; read < transcript.frames.length; read++) {
      const frame = transcript.frames[read]!;
      const id = membersOf(frame)['id'];
      if (frame.from !== 'server' || frame.kind === 'request' || typeof id !== 'string') continue;
      const count = counts.get(id);
      if (count !== undefined) counts.set(id, count + 1);
    }
    return [...counts.values()].every((count) => count > 0);
  };
  let heard = -1;
  let heardAt = context.clock.now();
  while (!isComplete() && !transcript.hasEnded) {
    if (transcript.frames.length > heard) {
      heard = transcript.frames.length;
      heardAt = context.clock.now();
    } else if (context.clock.now() - heardAt > ms) break;
    await context.pause(LOOK_MS);
  }
  isComplete();
  return {
    missing: ids.filter((id) => counts.get(id) === 0),
    twice: ids.filter((id) => counts.get(id)! > 1),
  };
}

const LOOK_MS = 10;

/** A request with a long answer, and the approximate length. */
interface LongAnswer {
  readonly method: string;
  readonly params: JsonObject;
  readonly answerBytes: number;
}

/** The harmless request with the longest answer: an echo, or the longest list. */
export function requestWithLongAnswer(
  { facts }: CheckContext,
  conversation: CheckConversation,
  echoBytes: number,
): LongAnswer {
  const echo = facts.callable.find(({ name }) => /echo/i.test(name));
  const key = echo && Object.entries(echo.args).find(([, value]) => typeof value === 'string')?.[0];
  const text = 'echo'.repeat(echoBytes / 4);
  const echoed: LongAnswer[] =
    echo && key !== undefined
      ? [
          {
            method: 'tools/call',
            params: { name: echo.name, arguments: { ...echo.args, [key]: text } },
            answerBytes: echoBytes,
          },
        ]
      : [];
  const lists = [
    ['tools/list', facts.tools],
    ['resources/list', facts.resources],
    ['prompts/list', facts.prompts],
    [aliveMethod(conversation), conversation.era === 'modern' ? facts.hello : {}],
  ] as const;
  const listed = lists.map(([method, content]) => ({
    method,
    params: {},
    answerBytes: JSON.stringify(content).length,
  }));
  return [...echoed, ...listed].reduce((best, each) => (each.answerBytes > best.answerBytes ? each : best));
}

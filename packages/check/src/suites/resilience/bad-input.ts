import type { JsonObject, RequestId } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { aliveMethod, askAlive } from '../../conversation/alive.js';
import type { CheckConversation } from '../../conversation/conversation.js';
import { modernParams } from '../../conversation/envelope.js';
import type { Check } from '../../model.js';
import type { CheckContext } from '../../run/check-context.js';
import type { StreamPeer } from '../../wire/stream-peer.js';
import { type Frame, membersOf } from '../../wire/transcript.js';

/** Something that a server may not bear. `what` is for people: `an empty line`. */
export interface BadInput {
  readonly what: string;
  readonly send: (peer: StreamPeer) => unknown;
}

export interface StrikeOptions {
  /** Waits a little for a frame like that. */
  readonly until?: (frame: Frame) => boolean;
  /** Waits a little for whatever may come. */
  readonly listens?: boolean;
  /** How long the next request may take. */
  readonly ms?: number;
}

/** Strikes, and fails unless the server answers the next request. Gives what it said besides, news left out. */
export async function strike(
  table: CheckContext,
  talk: CheckConversation,
  blow: BadInput,
  { until, listens = false, ms }: StrikeOptions = {},
): Promise<readonly Frame[]> {
  const peer = peerOf(table, talk);
  const { transcript } = peer;
  const from = transcript.frames.length;
  await blow.send(peer);
  const alive = await askAlive(talk, ms);
  if (alive.kind === 'silence') {
    table.fail(
      `after ${blow.what}, ${aliveMethod(talk)} was not answered: ${alive.why}${describeEnd(peer)}`,
      'the server answers the next request as if nothing had happened',
    );
  }
  const said = () =>
    transcript.frames.slice(from).filter((frame) => isAnswer(frame) && frame !== alive.frame);
  if (until && !said().some(until)) {
    await transcript.waitFor(
      (frame) => isAnswer(frame) && until(frame) && transcript.frames.indexOf(frame) >= from,
      table.patience.quietMs,
    );
  } else if (listens) await table.pause(table.patience.quietMs);
  return said();
}

export function peerOf(table: CheckContext, talk: CheckConversation): StreamPeer {
  return talk.peer ?? table.skip('the target is not behind a stream');
}

/** A line, as it is. */
export function line(what: string, text: string | Buffer): BadInput {
  return { what, send: (peer) => peer.sendLine(text) };
}

/** A request of the era of the talk, to be sent as it is or spoiled before. */
export function requestOf(
  talk: CheckConversation,
  id: RequestId,
  method: string,
  params: JsonObject = {},
): JsonObject {
  const all = talk.era === 'modern' ? modernParams(params, talk.revision, {}) : params;
  return { jsonrpc: '2.0', id, method, ...(Object.keys(all).length > 0 && { params: all }) };
}

/** The one that can do no harm. */
export function harmless(talk: CheckConversation, id: RequestId): JsonObject {
  return requestOf(talk, id, aliveMethod(talk));
}

/** An id that nobody has used on this connection. */
export function newId(talk: CheckConversation): string {
  return `blow-${talk.transcript.frames.length}-${talk.transcript.lines.length}`;
}

export function codeOf(frame: Frame): unknown {
  const error = membersOf(frame)['error'];
  return (error as JsonObject | undefined)?.['code'];
}

export function answers(id: unknown): (frame: Frame) => boolean {
  return (frame) => isAnswer(frame) && membersOf(frame)['id'] === id;
}

/** An error that belongs to no request. */
export function isLooseError(frame: Frame): boolean {
  return frame.kind === 'error' && frame.id === undefined;
}

/** A frame in a few words. */
export function inShort(frame: Frame): string {
  return frame.text.length > 160 ? `${frame.text.slice(0, 160)}…` : frame.text;
}

/** A check that is all about going on. */
export function survives(
  check: Pick<Check, 'id' | 'title' | 'hint'> & Partial<Check>,
  blows: (talk: CheckConversation) => readonly BadInput[],
): Check {
  return {
    suite: 'resilience',
    level: 'SHOULD',
    rules: [],
    reason: GOES_ON,
    era: 'none',
    over: ['command', 'socket'],
    lane: 'rough',
    ...check,
    async run(table) {
      const talk = await table.roughTalk();
      const all = blows(talk);
      for (const blow of all) await strike(table, talk, blow);
      return `went on after ${all.map(({ what }) => what).join(', ')}`;
    },
  };
}

export const GOES_ON =
  'One bad line must not cost a host all the other calls that are under way on the same connection.';

/** News and questions may come at any time. */
function isAnswer(frame: Frame): boolean {
  return frame.from === 'server' && frame.kind !== 'notification' && frame.kind !== 'request';
}

/** How a process ended, where there is one that did. */
export function describeEnd(peer: StreamPeer): string {
  const notes = peer.transcript.lines.filter(({ from, text }) => from === 'note' && /exited with/.test(text));
  const last = notes.at(-1)?.text;
  const words = peer.process?.stderr().trim().split('\n').at(-1);
  return (last === undefined ? '' : `; ${last}`) + (words ? `; last stderr: ${words.slice(0, 200)}` : '');
}

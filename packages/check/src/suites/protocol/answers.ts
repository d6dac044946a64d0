/** What came back, in words, and the judgements that many checks share. */

import type { Reply } from '../../conversation/conversation.js';
import type { CheckContext } from '../../run/check-context.js';

/** `error -32601 (Method not found)`, `a result with tools, nextCursor`, `nothing: no answer within 5000 ms`. */
export function inWords(reply: Reply): string {
  if (reply.kind === 'silence') return `nothing: ${reply.why}`;
  if (reply.kind === 'error') return `error ${reply.error.code} (${short(reply.error.message)})`;
  const members = Object.keys(reply.result).filter((key) => key !== '_meta');
  return members.length === 0 ? 'an empty result' : `a result with ${members.join(', ')}`;
}

/** Fails unless the answer is an error of one of these codes; of any, where none is named. */
export function needRefusal(
  table: CheckContext,
  reply: Reply,
  codes: readonly number[],
  what: string,
): string {
  const seen = `${what} was answered with ${inWords(reply)}`;
  if (reply.kind === 'error' && (codes.length === 0 || codes.includes(reply.error.code))) return seen;
  return table.fail(seen, codes.length === 0 ? 'an error' : `error ${codes.join(' or ')}`);
}

export function short(text: string, most = 120): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}

/** The first few of them, and how many more there are. */
export function several(items: readonly string[], most = 3): string {
  const rest = items.length - most;
  return items.slice(0, most).join('; ') + (rest > 0 ? `; and ${rest} more` : '');
}

/** A request that every server of an era answers, and that changes nothing. */
export function harmless(table: CheckContext): string {
  return table.era === 'modern' ? 'server/discover' : 'ping';
}

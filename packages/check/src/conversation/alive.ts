import type { CheckConversation, Reply } from './conversation.js';

/** The request that every server of the era answers, and that changes nothing. */
export function aliveMethod({ era }: Pick<CheckConversation, 'era'>): 'ping' | 'server/discover' {
  return era === 'modern' ? 'server/discover' : 'ping';
}

export function askAlive(talk: CheckConversation, ms?: number): Promise<Reply> {
  return talk.request(aliveMethod(talk), {}, ms === undefined ? {} : { ms });
}

/** Whether it still answers, be it with an error. */
export async function isAlive(talk: CheckConversation): Promise<boolean> {
  return talk.isOpen && (await askAlive(talk)).kind !== 'silence';
}

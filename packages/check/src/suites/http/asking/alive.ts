import type { CheckContext } from '../../../run/check-context.js';
import { type Answer, ask } from './answer.js';
import { openingRequest } from './requests.js';
import { forget } from './session.js';

/** Asks something ordinary on a connection of its own. */
export async function askOrdinary(table: CheckContext): Promise<Answer> {
  const peer = table.openHttp();
  const answer = await ask(table, peer, openingRequest(table));
  await forget(table, answer.http?.headers['mcp-session-id']);
  peer.close();
  return answer;
}

/** Fails unless the server still answers others after what was done to it. */
export async function needAlive(table: CheckContext, after: string): Promise<void> {
  const answer = await askOrdinary(table);
  if (answer.status !== 200) {
    table.fail(
      `after ${after}, an ordinary request was answered with ${answer.said}`,
      'the server goes on serving others',
    );
  }
}

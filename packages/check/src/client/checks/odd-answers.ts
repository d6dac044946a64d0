import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';

/** What is wrong with an answer to a question of a modern server; nothing when it is in order. */
export function oddAnswer(key: string, question: unknown, answer: unknown): string | undefined {
  if (!isJsonObject(answer)) return `${key} was answered with ${JSON.stringify(answer)}`;
  const extra = ['resultType', 'jsonrpc', 'id', 'result'].find((member) => member in answer);
  if (extra !== undefined) return `The answer to ${key} has a member ${extra}`;
  const method = isJsonObject(question) ? question['method'] : undefined;
  if (method === 'roots/list') return Array.isArray(answer['roots']) ? undefined : `${key} has no roots`;
  if (method === 'sampling/createMessage') {
    const whole = ['role', 'content', 'model'].every((member) => member in answer);
    return whole ? undefined : `${key} lacks role, content or model`;
  }
  return oddElicitation(key, answer);
}

/** The same for an elicitation of either era. */
export function oddElicitation(key: string, answer: JsonObject): string | undefined {
  const { action } = answer;
  if (!['accept', 'decline', 'cancel'].includes(String(action)))
    return `${key} has the action ${JSON.stringify(action)}`;
  return action !== 'accept' && 'content' in answer ? `${key} has content with ${String(action)}` : undefined;
}

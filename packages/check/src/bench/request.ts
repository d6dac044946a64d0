import type { Client } from '@isthmus/sdk/internal/client/client.js';
import type { BenchRequest, BenchSide, BenchTool } from './model.js';
import { judgeError, judgeResult } from './outcome.js';
import type { Ask } from './turn.js';

/**
 * What each side is asked. Without a tool that the user named it is something that cannot do harm, and the same for all
 * of them: `tools/list` where everybody answers it, otherwise a sign of life.
 */
export async function chooseRequests(
  sides: readonly BenchSide[],
  tool: BenchTool | undefined,
): Promise<readonly BenchRequest[]> {
  if (tool) {
    const params = { name: tool.name, arguments: tool.args };
    return sides.map(() => ({ method: 'tools/call', params }));
  }
  const answers = await Promise.all(sides.map(({ client }) => listsTools(client)));
  return sides.map(({ client }) => ({
    method: answers.every(Boolean) ? 'tools/list' : signOfLife(client),
    params: {},
  }));
}

/** One request of it, without the cache of the client, which would answer in the server's place. */
export function asker(client: Client, { method, params }: BenchRequest): Ask {
  return () => client.request(method, params).then(judgeResult, judgeError);
}

async function listsTools(client: Client): Promise<boolean> {
  if (!client.server.capabilities.tools) return false;
  const failure = await asker(client, { method: 'tools/list', params: {} })();
  return failure === undefined;
}

/** The modern era has no ping. */
function signOfLife({ era }: Client): string {
  return era === 'modern' ? 'server/discover' : 'ping';
}

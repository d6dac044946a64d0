import {
  createApplicationInputHandler,
  createTaskSessionFromClient,
} from '@modelcontextprotocol/ext-tasks/client';
import type { ClientV2 } from '../../support/official-v2.js';

type Answers = Parameters<typeof createApplicationInputHandler>[0];

/** Answers for the official ext-tasks client: the same to every elicitation. It is asked nothing else. */
export function elicitingOnly(answer: {
  action: 'accept';
  content: Record<string, string | boolean>;
}): Answers {
  return {
    elicitation: () => answer,
    sampling: () => {
      throw new Error('not asked');
    },
    roots: () => ({ roots: [] }),
  };
}

/** The official ext-tasks client for tasks of 2026-07-28. */
export function modernTaskSession(client: ClientV2, url: string, answers: Answers) {
  return createTaskSessionFromClient(client, {
    endpointId: url,
    onInputRequest: createApplicationInputHandler(answers),
    rawDispatch: (request) => dispatch(url, request),
    v2RequestFraming: {
      protocolVersion: '2026-07-28',
      clientInfo: { name: 'ext-tasks', version: '1' },
      clientCapabilities: { elicitation: { form: {} } },
    },
  });
}

/** Sends the requests that the official client cannot send yet: its codecs refuse tasks of 2026-07-28. */
async function dispatch(url: string, request: unknown) {
  const { method, params } = request as { method: string; params: Record<string, unknown> };
  const name = params['taskId'] ?? params['name'];
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': name }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const text = await response.text();
  const message = JSON.parse(text.startsWith('{') ? text : text.slice(text.lastIndexOf('data: ') + 6));
  return message.error
    ? { kind: 'error' as const, error: message.error }
    : { kind: 'result' as const, result: message.result };
}

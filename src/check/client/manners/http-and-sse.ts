import { ErrorCode } from '../../../wire/error-codes.js';
import type { Script } from '../model.js';
import { ENDPOINT } from '../stage/paths.js';
import { errorOf, resultOf } from '../stage/turn.js';
import type { Visit } from '../stage/visit.js';
import { echoOf } from './modern.js';
import { ECHO, SERVER_INFO } from './tools.js';

/** The transport of 2024-11-05: a GET whose first event names where to POST, and all answers on it. */
export function httpAndSse(): Script {
  let stream: Visit | undefined;
  return {
    visit(visit) {
      if (visit.method !== 'GET') return false;
      stream = visit;
      visit.stream();
      visit.event(ENDPOINT, { event: 'endpoint' });
      return true;
    },
    receive(turn) {
      // As servers of that time do: what is POSTed to the address of the stream is refused.
      if (!stream || turn.path !== ENDPOINT) return turn.status(405, '', { allow: 'GET' });
      turn.status(202, 'Accepted');
      if (turn.id === undefined || turn.method === '') return;
      const answers: Readonly<Record<string, object>> = {
        initialize: { protocolVersion: '2024-11-05', capabilities: { tools: {} }, serverInfo: SERVER_INFO },
        ping: {},
        'tools/list': { tools: [ECHO] },
        'tools/call': echoOf(turn),
      };
      const result = answers[turn.method];
      const answer = result
        ? resultOf(turn.id, result as Record<string, unknown>)
        : errorOf(turn.id, ErrorCode.MethodNotFound, 'Method not found');
      stream.event(JSON.stringify(answer));
    },
  };
}

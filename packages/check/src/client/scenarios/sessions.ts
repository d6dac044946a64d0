import { createSession, legacy } from '../behaviour/legacy.js';
import { echoOf } from '../behaviour/modern.js';
import type { Scenario, Script } from '../model.js';
import { resultOf, type ScriptTurn } from '../scripted/script-turn.js';

/** Legacy servers over HTTP, whose sessions and streams end. */
export const SESSIONS: readonly Scenario[] = [
  {
    name: 'session-lost',
    title: 'A legacy server that forgets its session after the tools were listed',
    over: ['http'],
    serves: ['legacy'],
    open: forgetful,
  },
  {
    name: 'stream-resumed',
    title: 'A legacy server that ends the stream of an answer, to be asked again a little later',
    over: ['http'],
    serves: ['legacy'],
    open: polling,
  },
];

function forgetful(): Script {
  const session = createSession();
  let forgot = false;
  return legacy({
    session,
    on: {
      'tools/call'() {
        if (!forgot) session.id = undefined;
        forgot = true;
        return false;
      },
    },
  });
}

/** How long the client is asked to wait. */
export const RETRY_MS = 400;
export const EVENT_ID = 'stream-1/event-0';

/** Server-sent polling of 2025-11-25: a priming event, the end of the stream, and the rest on a GET. */
function polling(): Script {
  const session = createSession();
  let waiting: ScriptTurn | undefined;
  return legacy({
    session,
    on: {
      'tools/call'(turn) {
        if (turn.headers['mcp-session-id'] !== session.id) return false;
        waiting = turn;
        turn.raw(`id: ${EVENT_ID}\nretry: ${RETRY_MS}\ndata: \n\n`);
        turn.end();
      },
    },
    script: {
      visit(visit) {
        if (visit.method !== 'GET' || visit.headers['last-event-id'] === undefined || !waiting) return false;
        visit.stream();
        visit.event(JSON.stringify(resultOf(waiting.id, echoOf(waiting))), { id: 'stream-1/event-1' });
        visit.end();
        return true;
      },
    },
  });
}

import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { createSession, legacy } from '../behaviour/legacy.js';
import { echoOf } from '../behaviour/modern.js';
import type { Scenario, Script } from '../model.js';
import type { ScriptTurn } from '../scripted/script-turn.js';
import { FORM } from './rounds.js';

/** A legacy server that asks while it works, one question after the other. */
export const QUESTIONS: readonly Scenario[] = [
  {
    name: 'legacy-asks',
    title: 'A legacy server that asks for all that was declared, and for what nobody knows',
    over: ['stdio', 'http'],
    serves: ['legacy'],
    open: askingServer,
  },
];

function askingServer(): Script {
  const session = createSession();
  let call: ScriptTurn | undefined;
  let left: JsonObject[] = [];
  const next = () => {
    const question = left.shift();
    if (question) call?.say({ jsonrpc: '2.0', ...question });
    else call?.reply(echoOf(call));
  };
  return legacy({
    session,
    on: {
      'tools/call'(turn) {
        if (turn.over === 'http' && turn.headers['mcp-session-id'] !== session.id) return false;
        call = turn;
        left = questionsFor(session.capabilities, turn.headers['host']);
        // Of an elicitation that never was (ELIC-028).
        turn.say({
          jsonrpc: '2.0',
          method: 'notifications/elicitation/complete',
          params: { elicitationId: 'never-was' },
        });
        next();
      },
      // An answer to one of them.
      ''(turn) {
        turn.accept();
        next();
      },
    },
  });
}

/** The id names what is asked: the judge goes by it. */
function questionsFor(capabilities: JsonObject, host: string | undefined): JsonObject[] {
  const { elicitation, roots, sampling } = capabilities as Record<string, JsonObject | undefined>;
  return [
    { id: 'ping', method: 'ping' },
    ...(elicitation ? [{ id: 'form', method: FORM['method'], params: plainForm() }] : []),
    ...(elicitation && !('url' in elicitation) ? [{ id: 'page', ...pageAt(host) }] : []),
    { id: roots ? 'roots' : 'roots-undeclared', method: 'roots/list' },
    ...(sampling ? [{ id: 'sample', ...SAMPLE }] : []),
    ...(sampling && !('tools' in sampling) ? [{ id: 'sample-tools', ...toolSample() }] : []),
    { id: 'unknown', method: 'example/unknown' },
    { id: 7, method: 'ping' },
  ];
}

/** Without `mode`, which is form (ELIC-004). */
function plainForm(): JsonObject {
  const { mode: _, ...rest } = FORM['params'] as JsonObject;
  return rest;
}

/** Over HTTP at this very server, to see whether somebody goes there. */
function pageAt(host: string | undefined): JsonObject {
  const url = host === undefined ? 'https://example.com/login' : `http://${host}${LOGIN_PATH}`;
  return {
    method: 'elicitation/create',
    params: { mode: 'url', message: 'Log in', url, elicitationId: 'one' },
  };
}

export const LOGIN_PATH = '/login';

/** Only for clients that declare `sampling.tools` (SAMP-004). */
function toolSample(): JsonObject {
  const tools = [{ name: 'clock', inputSchema: { type: 'object' } }];
  return { ...SAMPLE, params: { ...(SAMPLE['params'] as JsonObject), tools } };
}

const SAMPLE: JsonObject = {
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: { type: 'text', text: 'Say hi.' } }], maxTokens: 20 },
};

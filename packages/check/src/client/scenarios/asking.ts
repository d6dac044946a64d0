import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Scenario, Script, Step } from '../model.js';
import type { ScriptTurn } from '../scripted/script.js';
import {
  capabilitiesOf,
  complete,
  createSession,
  ECHO,
  echoOf,
  type Handler,
  legacy,
  modern,
  textResult,
} from './base-servers.js';

/** A state that shows any change: quotes, a newline, spaces at both ends, other alphabets, and JSON. */
const ODD_STATE = ' {"n":1.0,"é":"\\u00e9"}\n"=?base64?eA==?="\t☃ ';

export const FORM: JsonObject = {
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message: 'What is your name?',
    requestedSchema: {
      type: 'object',
      properties: { name: { type: 'string', default: 'Ada' }, age: { type: 'integer', default: 36 } },
      required: ['name'],
    },
  },
};
const PAGE: JsonObject = {
  method: 'elicitation/create',
  params: { mode: 'url', message: 'Please log in', url: 'https://example.com/login' },
};
const ROOTS: JsonObject = { method: 'roots/list' };
const SAMPLE: JsonObject = {
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: { type: 'text', text: 'Say hi.' } }], maxTokens: 20 },
};

/** Modern servers that ask for input before they answer. They ask only for what the request declares. */
export const ROUNDS: readonly Scenario[] = [
  asking('round-elicit', 'A modern server that asks for a name before it answers', (turn, round) =>
    round === 0 ? { inputRequests: declared(turn, { who: FORM }), requestState: ODD_STATE } : undefined,
  ),
  asking('round-many', 'A modern server that asks for several things at once', (turn, round) =>
    round === 0
      ? {
          inputRequests: declared(turn, { first: FORM, second: FORM, where: ROOTS, what: SAMPLE }),
          requestState: 'many',
        }
      : undefined,
  ),
  asking('round-state-dropped', 'A modern server that asks twice, with a state only once', (turn, round) => {
    if (round === 0) return { inputRequests: declared(turn, { one: FORM }), requestState: 'only-here' };
    return round === 1 ? { inputRequests: declared(turn, { two: FORM }) } : undefined;
  }),
  asking(
    'round-state-only',
    'A modern server that sends only a state and wants the call again',
    (_, round) => (round < 2 ? { requestState: `wait-${round}` } : undefined),
  ),
  asking('round-endless', 'A modern server that never stops asking', (_, round) => ({
    requestState: `again-${round}`,
  })),
  asking(
    'round-undeclared',
    'A modern server that asks for what the client did not declare',
    (turn, round) => (round === 0 ? { inputRequests: undeclared(turn), requestState: 'rude' } : undefined),
  ),
  {
    ...asking(
      'round-parallel',
      'A modern server that asks for input in two parallel calls, each with its own state',
      (turn, round) =>
        round === 0
          ? {
              inputRequests: declared(turn, { [`key-${nameIn(turn)}`]: FORM }),
              requestState: `state-${nameIn(turn)}`,
            }
          : undefined,
    ),
    steps: [
      { do: 'list' },
      { do: 'together', calls: [{ name: 'echo' }, { name: 'other' }] },
    ] satisfies Step[],
  },
];

function asking(
  name: string,
  title: string,
  ask: (turn: ScriptTurn, round: number) => JsonObject | undefined,
): Scenario {
  return {
    name,
    title,
    over: ['stdio', 'http'],
    serves: name === 'round-endless' || name === 'round-undeclared' ? [] : ['modern'],
    open: () => roundServer(ask),
  };
}

function roundServer(ask: (turn: ScriptTurn, round: number) => JsonObject | undefined): Script {
  const rounds = new Map<string, number>();
  const call: Handler = (turn) => {
    const name = nameIn(turn);
    const round = rounds.get(name) ?? 0;
    rounds.set(name, round + 1);
    const asked = ask(turn, round);
    const isEmpty = asked?.['inputRequests'] !== undefined && asked['inputRequests'] === NOTHING;
    if (asked && !isEmpty) turn.reply({ ...complete({}), ...asked, resultType: 'input_required' });
    else turn.reply(complete(textResult(`done after ${round} rounds`)));
  };
  return modern({ on: { 'tools/call': call }, tools: [ECHO, { ...ECHO, name: 'other' }] });
}

/** The client declared none of the kinds of input that the server would ask for. */
const NOTHING: JsonObject = {};

function declared(turn: ScriptTurn, wanted: Record<string, JsonObject>): JsonObject {
  const capabilities = capabilitiesOf(turn);
  const kept = Object.entries(wanted).filter(([, { method }]) => {
    if (method === 'elicitation/create') return formIn(capabilities);
    return capabilities[method === 'roots/list' ? 'roots' : 'sampling'] !== undefined;
  });
  return kept.length === 0 ? NOTHING : Object.fromEntries(kept);
}

/** The first kind of input that the client did not declare; `NOTHING` for a client that declares all. */
function undeclared(turn: ScriptTurn): JsonObject {
  const capabilities = capabilitiesOf(turn);
  const { elicitation } = capabilities as { elicitation?: JsonObject };
  if (!elicitation) return { rude: FORM };
  if (!('url' in elicitation)) return { rude: PAGE };
  if (capabilities['sampling'] === undefined) return { rude: SAMPLE };
  return capabilities['roots'] === undefined ? { rude: ROOTS } : NOTHING;
}

function formIn({ elicitation }: JsonObject): boolean {
  if (typeof elicitation !== 'object' || elicitation === null) return false;
  return 'form' in elicitation || !('url' in elicitation);
}

function nameIn({ params }: ScriptTurn): string {
  return String(params['name']);
}

/** A legacy server that sends its requests during a call, one after the other. */
export const QUESTIONS: readonly Scenario[] = [
  {
    name: 'legacy-asks',
    title: 'A legacy server that sends every declared request, and an unknown one',
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
        // For an elicitation that does not exist (ELIC-028).
        turn.say({
          jsonrpc: '2.0',
          method: 'notifications/elicitation/complete',
          params: { elicitationId: 'never-was' },
        });
        next();
      },
      // An answer to one of its requests.
      ''(turn) {
        turn.accept();
        next();
      },
    },
  });
}

/** The ids name the kind of request. The checks use them. */
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

/** Without `mode`, which means a form (ELIC-004). */
function plainForm(): JsonObject {
  const { mode: _, ...rest } = FORM['params'] as JsonObject;
  return rest;
}

/** Over HTTP the URL is on this server, which shows whether the client fetches it. */
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

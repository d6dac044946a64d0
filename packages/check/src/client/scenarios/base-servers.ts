import { randomUUID } from 'node:crypto';
import { META } from '@isthmus/sdk/internal/era/meta-keys.js';
import { LATEST_LEGACY, LATEST_MODERN } from '@isthmus/sdk/internal/era/revisions.js';
import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Script } from '../model.js';
import type { ScriptRequest, ScriptTurn } from '../scripted/script.js';

/** The tool that every scripted server has. */
export const ECHO: JsonObject = {
  name: 'echo',
  description: 'Returns its arguments.',
  inputSchema: {
    type: 'object',
    properties: { text: { type: 'string', default: 'hello' } },
    required: ['text'],
  },
};

/** A tool that never answers by itself. */
export const SLOW: JsonObject = {
  name: 'slow',
  description: 'Never answers.',
  inputSchema: { type: 'object', properties: {} },
};

export const SERVER_INFO = { name: 'isthmus-scripted', version: '1.0.0' };

export function textResult(text: string): JsonObject {
  return { content: [{ type: 'text', text }] };
}

/** A modern result. */
export function complete(result: JsonObject): JsonObject {
  return { resultType: 'complete', ...result, _meta: { [META.serverInfo]: SERVER_INFO } };
}

export function cacheable(result: JsonObject, ttlMs = 0): JsonObject {
  return complete({ ...result, ttlMs, cacheScope: 'private' });
}

export interface ModernBehaviour {
  /** Handlers for some methods. A handler that returns `false` leaves the message to the correct behaviour. */
  readonly on?: Readonly<Record<string, Handler>>;
  readonly tools?: readonly JsonObject[];
  /** The versions that the server says it supports. */
  readonly supported?: readonly string[];
  readonly script?: Omit<Script, 'receive'>;
}

/** Returns nothing when it has handled the message. */
export type Handler = (turn: ScriptTurn) => void | false;

/** A correct modern server. */
export function modern(behaviour: ModernBehaviour = {}): Script {
  return { ...behaviour.script, receive: (turn) => receiveModern(turn, behaviour) };
}

function receiveModern(turn: ScriptTurn, behaviour: ModernBehaviour): void {
  const own = behaviour.on?.[turn.method];
  if (own && own(turn) !== false) return;
  if (turn.id === undefined || turn.method === '') return turn.accept();
  if (versionOf(turn) === undefined) return refuseLegacy(turn, behaviour);
  const answer = MODERN_ANSWERS[turn.method];
  if (answer) answer(turn, behaviour);
  else turn.fail(ErrorCode.MethodNotFound, `There is no ${turn.method}`, undefined, 404);
}

export function versionOf({ params }: Pick<ScriptTurn, 'params'>): unknown {
  const meta = params['_meta'];
  return isJsonObject(meta) ? meta[META.protocolVersion] : undefined;
}

export function capabilitiesOf({ params }: Pick<ScriptTurn, 'params'>): JsonObject {
  const meta = params['_meta'];
  const declared = isJsonObject(meta) ? meta[META.clientCapabilities] : undefined;
  return isJsonObject(declared) ? declared : {};
}

/** The result of the tool `echo`. */
export function echoOf({ params }: ScriptTurn): JsonObject {
  return textResult(JSON.stringify(params['arguments'] ?? {}));
}

const MODERN_ANSWERS: Readonly<Record<string, (turn: ScriptTurn, behaviour: ModernBehaviour) => void>> = {
  'server/discover': (turn, { supported = [LATEST_MODERN] }) =>
    turn.reply(cacheable({ supportedVersions: supported, capabilities: { tools: { listChanged: true } } })),
  'tools/list': (turn, { tools = [ECHO] }) => turn.reply(cacheable({ tools })),
  'tools/call': (turn) => turn.reply(complete(echoOf(turn))),
  'subscriptions/listen': (turn) =>
    turn.say({
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: {
        _meta: { [META.subscriptionId]: turn.id },
        notifications: wantsTools(turn) ? { toolsListChanged: true } : {},
      },
    }),
};

function wantsTools({ params }: ScriptTurn): boolean {
  const wanted = params['notifications'];
  return isJsonObject(wanted) && wanted['toolsListChanged'] === true;
}

function refuseLegacy(turn: ScriptTurn, { supported = [LATEST_MODERN] }: ModernBehaviour): void {
  const { protocolVersion: requested = 'none' } = turn.params;
  turn.fail(
    ErrorCode.UnsupportedProtocolVersion,
    `This server speaks ${supported.join(', ')} and has no handshake`,
    { supported, requested },
    400,
  );
}

interface LegacyBehaviour extends ModernBehaviour {
  /** The only revision that it speaks. Default: the newest. */
  readonly revision?: string;
  readonly session?: ScriptedLegacySession;
}

/** What a legacy server knows about its only client. */
interface ScriptedLegacySession {
  id: string | undefined;
  capabilities: JsonObject;
}

export function createSession(): ScriptedLegacySession {
  return { id: undefined, capabilities: {} };
}

/** A correct legacy server. Over HTTP it has a session. */
export function legacy(behaviour: LegacyBehaviour = {}): Script {
  const settled = { ...behaviour, session: behaviour.session ?? createSession() };
  return {
    ...behaviour.script,
    receive: (turn) => receiveLegacy(turn, settled),
    visit: (visit) => behaviour.script?.visit?.(visit) || visitLegacy(visit, settled.session),
  };
}

function receiveLegacy(
  turn: ScriptTurn,
  behaviour: LegacyBehaviour & { session: ScriptedLegacySession },
): void {
  const { session } = behaviour;
  const own = behaviour.on?.[turn.method];
  if (own && own(turn) !== false) return;
  if (turn.over === 'http' && !isOfSession(turn, session)) return;
  if (turn.id === undefined || turn.method === '') return turn.accept();
  const answer = LEGACY_ANSWERS[turn.method];
  if (answer) answer(turn, behaviour);
  else turn.fail(ErrorCode.MethodNotFound, 'Method not found');
}

/** Over HTTP, only `initialize` is accepted without a session, as in many legacy servers. */
function isOfSession(turn: ScriptTurn, session: ScriptedLegacySession): boolean {
  if (turn.method === 'initialize') return true;
  const named = turn.headers['mcp-session-id'];
  if (named !== undefined && named === session.id) return true;
  const [status, text] =
    named === undefined ? [400, 'Bad Request: Server not initialized'] : [404, 'Session not found'];
  const body = { jsonrpc: '2.0', error: { code: -32000, message: text }, id: null };
  turn.status(status as number, JSON.stringify(body), { 'content-type': 'application/json' });
  return false;
}

function visitLegacy(visit: ScriptRequest, session: ScriptedLegacySession): boolean {
  if (visit.method !== 'DELETE') return false;
  const known = session.id !== undefined && visit.headers['mcp-session-id'] === session.id;
  if (known) session.id = undefined;
  visit.status(known ? 200 : 404);
  return true;
}

const LEGACY_ANSWERS: Readonly<
  Record<string, (turn: ScriptTurn, behaviour: LegacyBehaviour & { session: ScriptedLegacySession }) => void>
> = {
  initialize(turn, { revision = LATEST_LEGACY, session }) {
    session.id = randomUUID();
    session.capabilities = (turn.params['capabilities'] ?? {}) as JsonObject;
    turn.reply(
      { protocolVersion: revision, capabilities: { tools: {} }, serverInfo: SERVER_INFO },
      { 'mcp-session-id': session.id },
    );
  },
  ping: (turn) => turn.reply({}),
  'tools/list': (turn, { tools = [ECHO] }) => turn.reply({ tools }),
  'tools/call': (turn) => turn.reply(echoOf(turn)),
};

/** A correct server of both eras. Its special handlers apply in both. */
export function dual(behaviour: ModernBehaviour = {}): Script {
  const session = createSession();
  return {
    ...behaviour.script,
    receive(turn) {
      if (isModern(turn)) receiveModern(turn, behaviour);
      else receiveLegacy(turn, { ...behaviour, session });
    },
    visit: (visit) => behaviour.script?.visit?.(visit) || visitLegacy(visit, session),
  };
}

export function isModern(turn: ScriptTurn): boolean {
  return versionOf(turn) !== undefined;
}

/** A result in the form of the era of its request. */
export function inEra(turn: ScriptTurn, result: JsonObject): JsonObject {
  return isModern(turn) ? complete(result) : result;
}

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
  description: 'Says what it was told.',
  inputSchema: {
    type: 'object',
    properties: { text: { type: 'string', default: 'hello' } },
    required: ['text'],
  },
};

/** Another one, which never answers by itself. */
export const SLOW: JsonObject = {
  name: 'slow',
  description: 'Takes longer than anybody waits.',
  inputSchema: { type: 'object', properties: {} },
};

export const SERVER_INFO = { name: 'isthmus-scripted', version: '1.0.0' };

export function textResult(text: string): JsonObject {
  return { content: [{ type: 'text', text }] };
}

/** As modern results are. */
export function complete(result: JsonObject): JsonObject {
  return { resultType: 'complete', ...result, _meta: { [META.serverInfo]: SERVER_INFO } };
}

export function cacheable(result: JsonObject, ttlMs = 0): JsonObject {
  return complete({ ...result, ttlMs, cacheScope: 'private' });
}

export interface ModernBehaviour {
  /** What is done differently, by method. A handler that returns `false` leaves the message to good manners. */
  readonly on?: Readonly<Record<string, Handler>>;
  readonly tools?: readonly JsonObject[];
  /** What the server says it speaks. */
  readonly supported?: readonly string[];
  readonly script?: Omit<Script, 'receive'>;
}

/** Nothing means: it is done. */
export type Handler = (turn: ScriptTurn) => void | false;

/** A modern server with good manners. */
export function modern(manners: ModernBehaviour = {}): Script {
  return { ...manners.script, receive: (turn) => receiveModern(turn, manners) };
}

function receiveModern(turn: ScriptTurn, manners: ModernBehaviour): void {
  const own = manners.on?.[turn.method];
  if (own && own(turn) !== false) return;
  if (turn.id === undefined || turn.method === '') return turn.accept();
  if (versionOf(turn) === undefined) return refuseLegacy(turn, manners);
  const answer = MODERN_ANSWERS[turn.method];
  if (answer) answer(turn, manners);
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

/** What a tool of ours says to ordinary arguments. */
export function echoOf({ params }: ScriptTurn): JsonObject {
  return textResult(JSON.stringify(params['arguments'] ?? {}));
}

const MODERN_ANSWERS: Readonly<Record<string, (turn: ScriptTurn, manners: ModernBehaviour) => void>> = {
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
  /** The only one that it speaks. Default: the newest. */
  readonly revision?: string;
  readonly session?: ScriptedLegacySession;
}

/** What a legacy server knows of its one client. */
interface ScriptedLegacySession {
  id: string | undefined;
  capabilities: JsonObject;
}

export function createSession(): ScriptedLegacySession {
  return { id: undefined, capabilities: {} };
}

/** A legacy server with good manners, which over HTTP keeps a session. */
export function legacy(manners: LegacyBehaviour = {}): Script {
  const settled = { ...manners, session: manners.session ?? createSession() };
  return {
    ...manners.script,
    receive: (turn) => receiveLegacy(turn, settled),
    visit: (visit) => manners.script?.visit?.(visit) || visitLegacy(visit, settled.session),
  };
}

function receiveLegacy(
  turn: ScriptTurn,
  manners: LegacyBehaviour & { session: ScriptedLegacySession },
): void {
  const { session } = manners;
  const own = manners.on?.[turn.method];
  if (own && own(turn) !== false) return;
  if (turn.over === 'http' && !isOfSession(turn, session)) return;
  if (turn.id === undefined || turn.method === '') return turn.accept();
  const answer = LEGACY_ANSWERS[turn.method];
  if (answer) answer(turn, manners);
  else turn.fail(ErrorCode.MethodNotFound, 'Method not found');
}

/** Over HTTP, as many legacy servers do it: without a session only `initialize` is heard. */
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
  Record<string, (turn: ScriptTurn, manners: LegacyBehaviour & { session: ScriptedLegacySession }) => void>
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

/** A server of both eras with good manners. What it does differently it does in both. */
export function dual(manners: ModernBehaviour = {}): Script {
  const session = createSession();
  return {
    ...manners.script,
    receive(turn) {
      if (isModern(turn)) receiveModern(turn, manners);
      else receiveLegacy(turn, { ...manners, session });
    },
    visit: (visit) => manners.script?.visit?.(visit) || visitLegacy(visit, session),
  };
}

export function isModern(turn: ScriptTurn): boolean {
  return versionOf(turn) !== undefined;
}

/** A result in the words of the era that was asked in. */
export function inEra(turn: ScriptTurn, result: JsonObject): JsonObject {
  return isModern(turn) ? complete(result) : result;
}

import { randomUUID } from 'node:crypto';
import { LATEST_LEGACY } from '@isthmus/sdk/internal/era/revisions.js';
import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Script } from '../model.js';
import type { ScriptRequest } from '../scripted/script-request.js';
import type { ScriptTurn } from '../scripted/script-turn.js';
import { echoOf, type ModernBehaviour } from './modern.js';
import { ECHO, SERVER_INFO } from './tools.js';

export interface LegacyBehaviour extends ModernBehaviour {
  /** The only one that it speaks. Default: the newest. */
  readonly revision?: string;
  readonly session?: ScriptedLegacySession;
}

/** What a legacy server knows of its one client. */
export interface ScriptedLegacySession {
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

export function receiveLegacy(
  turn: ScriptTurn,
  manners: LegacyBehaviour & { session: ScriptedLegacySession },
): void {
  const { session } = manners;
  const own = manners.on?.[turn.method];
  if (own && own(turn) !== false) return;
  if (turn.over === 'http' && !isOfSession(turn, session)) return;
  if (turn.id === undefined || turn.method === '') return turn.accept();
  const answer = ANSWERS[turn.method];
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

export function visitLegacy(visit: ScriptRequest, session: ScriptedLegacySession): boolean {
  if (visit.method !== 'DELETE') return false;
  const known = session.id !== undefined && visit.headers['mcp-session-id'] === session.id;
  if (known) session.id = undefined;
  visit.status(known ? 200 : 404);
  return true;
}

const ANSWERS: Readonly<
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

import { META } from '@isthmus/sdk/internal/era/meta-keys.js';
import { LATEST_MODERN } from '@isthmus/sdk/internal/era/revisions.js';
import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Script } from '../model.js';
import type { ScriptTurn } from '../scripted/script-turn.js';
import { cacheable, complete, ECHO, textResult } from './tools.js';

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

export function receiveModern(turn: ScriptTurn, manners: ModernBehaviour): void {
  const own = manners.on?.[turn.method];
  if (own && own(turn) !== false) return;
  if (turn.id === undefined || turn.method === '') return turn.accept();
  if (versionOf(turn) === undefined) return refuseLegacy(turn, manners);
  const answer = ANSWERS[turn.method];
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

const ANSWERS: Readonly<Record<string, (turn: ScriptTurn, manners: ModernBehaviour) => void>> = {
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

import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Script } from '../model.js';
import type { ScriptTurn } from '../scripted/script-turn.js';
import { createSession, receiveLegacy, visitLegacy } from './legacy.js';
import { type ModernBehaviour, receiveModern, versionOf } from './modern.js';
import { complete } from './tools.js';

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

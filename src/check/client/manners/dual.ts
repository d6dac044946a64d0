import type { JsonObject } from '../../../wire/json-rpc.js';
import type { Script } from '../model.js';
import type { Turn } from '../stage/turn.js';
import { createSession, receiveLegacy, visitLegacy } from './legacy.js';
import { type Manners, receiveModern, versionOf } from './modern.js';
import { complete } from './tools.js';

/** A server of both eras with good manners. What it does differently it does in both. */
export function dual(manners: Manners = {}): Script {
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

export function isModern(turn: Turn): boolean {
  return versionOf(turn) !== undefined;
}

/** A result in the words of the era that was asked in. */
export function inEra(turn: Turn, result: JsonObject): JsonObject {
  return isModern(turn) ? complete(result) : result;
}

import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { GatewayServerDefinition } from '../server-definition.js';

/** What a shim asks for: a server with everything expanded, so that nothing depends on who the daemon is. */
export interface AttachParams {
  readonly unit: GatewayServerDefinition;
  /** Variables that a process gets besides; where hosts differ in them, they are those of the first. */
  readonly ambient: Texts;
  /** Of a URL: the transport of 2024-11-05 is tried before the other. */
  readonly sseFirst: boolean;
  /** How long the server is kept when nobody is attached to it any more. */
  readonly graceMs: number;
}

type Texts = Readonly<Record<string, string>>;

/**
 * From the socket: whoever is there is of this user, but may be of another version. What a host or a connector looks
 * at itself is left to them.
 */
export function readAttachParams(params: Readonly<Record<string, unknown>>): AttachParams {
  const { unit, ambient = {}, sseFirst = false, graceMs } = params;
  if (!isJsonObject(unit) || !isUnit(unit)) throw wrong('the definition of the server');
  if (!isTexts(ambient)) throw wrong('its variables');
  if (!Number.isSafeInteger(graceMs) || (graceMs as number) < 0) throw wrong('the time to keep it');
  return {
    unit: unit as unknown as GatewayServerDefinition,
    ambient,
    sseFirst: sseFirst === true,
    graceMs: graceMs as number,
  };
}

function isUnit({ name, source, bridge, unit }: JsonObject): boolean {
  if (typeof name !== 'string' || name === '' || !isJsonObject(bridge) || !isJsonObject(unit)) return false;
  if (!isJsonObject(source)) return false;
  const { kind, definition, url, connect, upstream, address } = source;
  switch (kind) {
    case 'command':
      return isJsonObject(definition) && isCommand(definition);
    case 'url':
      return typeof url === 'string' && isJsonObject(connect) && isJsonObject(upstream);
    case 'socket':
      return typeof address === 'string' && isJsonObject(upstream);
    default:
      return false;
  }
}

function isCommand({ command, args, cwd, env }: JsonObject): boolean {
  const isWord = (word: unknown) => typeof word === 'string';
  return isWord(command) && isWord(cwd) && Array.isArray(args) && args.every(isWord) && isTexts(env);
}

function isTexts(value: unknown): value is Texts {
  return isJsonObject(value) && Object.values(value).every((each) => typeof each === 'string');
}

/** Without a value: it may be a secret. */
function wrong(what: string): IsthmusError {
  const message = `The daemon does not understand ${what}; it may be of another version: isthmus daemon stop ends it`;
  return new IsthmusError('INVALID_OPTION', message, { sent: 'no' });
}

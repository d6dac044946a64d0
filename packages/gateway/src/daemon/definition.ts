import type { CommandSpec, ServerSpec } from '@isthmus/sdk/internal/config/server-spec.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';

/** What a shim asks for: a server with everything expanded, so that nothing depends on the daemon's environment. */
export interface AttachParams {
  readonly server: ServerSpec;
  /** More variables for the process. Hosts that share it may differ in them; the first host's values are used. */
  readonly ambient: Texts;
  /** For a URL: the transport of 2024-11-05 is tried before Streamable HTTP. */
  readonly sseFirst: boolean;
  /** How long the server is kept when no host is attached to it. */
  readonly graceMs: number;
}

type Texts = Readonly<Record<string, string>>;

/** The server as the daemon runs it: its process gets exactly the variables that the shim has collected. */
export function withAmbient({ server, ambient }: AttachParams): ServerSpec {
  if (server.kind !== 'command') return server;
  return { ...server, env: { ...ambient, ...server.env }, inheritEnv: [] };
}

/**
 * Reads a request of the socket. Its sender is a process of this user, perhaps of another version. The host and the
 * connectors check the rest of the values.
 */
export function readAttachParams(params: Readonly<Record<string, unknown>>): AttachParams {
  const { server, ambient = {}, sseFirst = false, graceMs } = params;
  if (!isJsonObject(server) || !isSpec(server)) throw wrong('the definition of the server');
  if (!isTexts(ambient)) throw wrong('its variables');
  if (!Number.isSafeInteger(graceMs) || (graceMs as number) < 0) throw wrong('the time to keep it');
  return {
    server: server as unknown as ServerSpec,
    ambient,
    sseFirst: sseFirst === true,
    graceMs: graceMs as number,
  };
}

function isSpec(spec: JsonObject): boolean {
  const { name, kind, url, headers, address } = spec;
  if (typeof name !== 'string' || name === '') return false;
  switch (kind) {
    case 'command':
      return isCommand(spec as Partial<Record<keyof CommandSpec, unknown>>);
    case 'url':
      return typeof url === 'string' && isTexts(headers);
    case 'socket':
      return typeof address === 'string';
    default:
      return false;
  }
}

function isCommand({ command, args, cwd, env }: Partial<Record<keyof CommandSpec, unknown>>): boolean {
  const isText = (value: unknown) => typeof value === 'string';
  return isText(command) && isText(cwd) && Array.isArray(args) && args.every(isText) && isTexts(env);
}

function isTexts(value: unknown): value is Texts {
  return isJsonObject(value) && Object.values(value).every((each) => typeof each === 'string');
}

/** Without the value, which may be a secret. */
function wrong(what: string): IsthmusError {
  const message = `The daemon does not understand ${what}; it may be of another version: isthmus daemon stop ends it`;
  return new IsthmusError('INVALID_OPTION', message, { sent: 'no' });
}

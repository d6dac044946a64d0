import { IsthmusError, type LocalErrorCode, messageOf } from '@isthmus/sdk/internal/errors.js';
import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { MemberAnswer, OperatorRequest } from '../cluster/cluster-control.js';
import type { LogLine } from '../log-tail.js';
import type { GatewayStatus } from '../server-state.js';

/** What a running gateway can be asked to do from outside. */
export interface Controlled {
  status(): Promise<GatewayStatus>;
  /** Settles when the server has answered again. Rejects with the reason when it has not. */
  restart(name: string): Promise<void>;
  /** Finishes the running calls of a server, ends its processes, and switches it off. */
  stop(name: string): Promise<void>;
  start(name: string): Promise<void>;
  /** Reads the configuration again. */
  reload(): Promise<ReloadReport>;
  /** The last lines of one server, or of all servers. With `follow` also new lines, until the signal. */
  logs(name: string | undefined, options: LogsOptions, signal: AbortSignal): AsyncIterable<LogLine>;
  /** A link to the console, for a person with these rights. Refused where there is none. */
  console(access: ConsoleAccess): Promise<ConsoleLink>;
  /** Asks all processes of the cluster. Refused where there is none. */
  members(request: OperatorRequest): Promise<readonly MemberAnswer[]>;
  /** Begins to end the gateway. */
  shutdown(): void;
}

/** What a person may do in the console: see states, also act, also see payloads. */
export type ConsoleAccess = 'look' | 'act' | 'record';

export interface ConsoleLink {
  /** It works once, within 60 s. */
  readonly url: string;
}

export interface LogsOptions {
  /** How many of the existing lines. */
  readonly lines: number;
  readonly follow: boolean;
  /** Of all processes of the cluster. */
  readonly all?: boolean | undefined;
}

/** What reading the configuration again has changed: names of servers. */
export interface ReloadReport {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
  readonly unchanged: readonly string[];
  /** Settings that have changed, and take effect when the gateway is started again. */
  readonly later?: readonly string[] | undefined;
  /** Why the gateway kept the old configuration. */
  readonly problem: string | undefined;
}

/** Both sides send their version in this header. Version 1 was not HTTP but JSON lines. */
export const VERSION_HEADER = 'isthmus-control';
export const CONTROL_VERSION = 2;

export const JSON_TYPE = 'application/json';

/** The parameters of a request, as JSON: requests have no body. */
export const PARAMS_HEADER = 'isthmus-attach-params';

/** The `Upgrade` that hands a connection over, and the header with its result (JSON). */
export const ATTACH_PROTOCOL = 'isthmus-attach';
export const RESULT_HEADER = 'isthmus-attach-result';

export function invalidRequest(message: string, status = 400): IsthmusError {
  return new IsthmusError('INVALID_OPTION', message, { status });
}

export function otherVersion(us: 'gateway' | 'command', theirs: unknown): IsthmusError {
  const other = us === 'gateway' ? 'command' : 'gateway';
  const version = /^\d{1,9}$/.test(String(theirs)) ? `version ${theirs}` : 'an unknown version';
  return new IsthmusError(
    'NO_COMMON_REVISION',
    `This ${us} speaks version ${CONTROL_VERSION} of the control protocol, and the ${other} ${version}: use the same isthmus on both sides`,
  );
}

/** The status and the body of a failed request. */
export function encodeError(thrown: unknown): { readonly status: number; readonly body: string } {
  const { code, evidence, status, scopes } =
    thrown instanceof IsthmusError ? thrown : new IsthmusError('REFUSED_BY_PEER', '');
  const error = {
    ...{ code, message: messageOf(thrown) },
    ...(evidence && { evidence }),
    ...(status !== undefined && { status }),
    ...(scopes && { scopes }),
  };
  return { status: statusOf(code, status), body: JSON.stringify({ error }) };
}

/** Only the status of an invalid request is ours: that of another error came from a remote server. */
function statusOf(code: LocalErrorCode, status: number | undefined): number {
  if (code === 'INVALID_OPTION') return status ?? 400;
  if (code === 'NO_COMMON_REVISION') return 400;
  return code === 'BUSY' ? 503 : 409;
}

/** The error in the body of a failed request. Both sides have the same version, so the code is known here. */
export function decodeError(body: unknown): IsthmusError {
  const error = isJsonObject(body) && isJsonObject(body['error']) ? body['error'] : {};
  const { code, message, evidence, status, scopes } = error;
  return new IsthmusError(
    typeof code === 'string' ? (code as LocalErrorCode) : 'REFUSED_BY_PEER',
    typeof message === 'string' ? message : 'The gateway refused and gave no reason',
    {
      evidence: Array.isArray(evidence) ? evidence.map(String) : undefined,
      status: typeof status === 'number' ? status : undefined,
      scopes: Array.isArray(scopes) ? scopes.map(String) : undefined,
    },
  );
}

/** JSON for a header, which has room for ASCII only. */
export function toHeader(value: unknown): string {
  return JSON.stringify(value ?? null).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Undefined when the text is not JSON. */
export function parseJson(text: string | string[] | undefined): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}

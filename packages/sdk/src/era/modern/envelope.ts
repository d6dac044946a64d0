import type { Peer } from '../../exchange/call.js';
import { ErrorCode } from '../../wire/error-codes.js';
import { isJsonObject, isRequestId, type JsonObject, type JsonRpcErrorBody } from '../../wire/json-rpc.js';
import type { ClientCapabilities, Implementation, LoggingLevel, ProgressToken } from '../../wire/model.js';
import { META } from '../meta-keys.js';
import { isLoggingLevel } from '../reports.js';
import { isModernRevision, MODERN_REVISIONS } from '../revisions.js';

/** What a modern request says about itself. Read anew from every request (STATE-001). */
export type Envelope = ValidEnvelope | RefusedEnvelope;

export interface ValidEnvelope {
  readonly kind: 'valid';
  readonly peer: Peer;
  readonly logLevel: LoggingLevel | undefined;
  readonly progressToken: ProgressToken | undefined;
}

export interface RefusedEnvelope {
  readonly kind: 'refused';
  readonly error: JsonRpcErrorBody;
}

/**
 * Checks the version first: a request of a version we do not speak may follow other rules, and the client
 * needs the list of versions to correct itself (VER-001, META-004).
 */
export function readEnvelope(
  params: JsonObject | undefined,
  principal: string | undefined,
  remote?: string,
): Envelope {
  const meta = params?.['_meta'];
  if (!isJsonObject(meta)) return refused('Missing params._meta with the keys every modern request carries');
  const revision = meta[META.protocolVersion];
  if (revision === undefined) return missing(META.protocolVersion);
  if (typeof revision !== 'string') return malformed(META.protocolVersion, 'a string');
  if (!isModernRevision(revision)) return { kind: 'refused', error: unsupportedVersion(revision) };
  const capabilities = meta[META.clientCapabilities];
  if (capabilities === undefined) return missing(META.clientCapabilities);
  if (!isJsonObject(capabilities)) return malformed(META.clientCapabilities, 'an object');
  const info = meta[META.clientInfo];
  if (info !== undefined && !isImplementation(info)) {
    return malformed(META.clientInfo, 'an object with a string name and version');
  }
  const logLevel = meta[META.logLevel];
  if (logLevel !== undefined && !isLoggingLevel(logLevel)) {
    return malformed(META.logLevel, 'a log level from debug to emergency');
  }
  const progressToken = meta['progressToken'];
  if (progressToken !== undefined && !isRequestId(progressToken)) {
    return malformed('progressToken', 'a string or an integer');
  }
  return {
    kind: 'valid',
    peer: {
      era: 'modern',
      revision,
      info,
      capabilities: capabilities as ClientCapabilities,
      principal,
      remote,
    },
    logLevel,
    progressToken,
  };
}

/** The answer to a version we do not speak, and to `initialize` where only the modern era is served. */
export function unsupportedVersion(requested: string): JsonRpcErrorBody {
  return {
    code: ErrorCode.UnsupportedProtocolVersion,
    message: `Unsupported protocol version; this server speaks ${MODERN_REVISIONS.join(', ')}`,
    data: { supported: [...MODERN_REVISIONS], requested },
  };
}

/**
 * The answer to `initialize` on a connection that is modern already. The first accepted request decides, discovery
 * included, and changing the era later is undefined; so the client is told how it gets the session that it wants.
 */
export function tooLateForSession(requested: string): JsonRpcErrorBody {
  const versions = MODERN_REVISIONS.join(', ');
  return {
    ...unsupportedVersion(requested),
    message:
      'Unsupported protocol version: this connection is modern, because its first accepted request ' +
      `(server/discover, for example) was modern. Go on with ${versions} requests here. For a session, open a ` +
      'fresh connection whose first request is initialize',
  };
}

function isImplementation(value: unknown): value is Implementation {
  return isJsonObject(value) && typeof value['name'] === 'string' && typeof value['version'] === 'string';
}

function missing(key: string): RefusedEnvelope {
  return refused(`Missing params._meta["${key}"]`);
}

function malformed(key: string, expected: string): RefusedEnvelope {
  return refused(`params._meta["${key}"] must be ${expected}`);
}

function refused(message: string): RefusedEnvelope {
  return { kind: 'refused', error: { code: ErrorCode.InvalidParams, message } };
}

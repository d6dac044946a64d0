import type { Peer, RequestEnvelope } from '../../exchange/call.js';
import { ErrorCode } from '../../wire/error-codes.js';
import { isJsonObject, isRequestId, type JsonObject, type JsonRpcErrorBody } from '../../wire/json-rpc.js';
import type { ClientCapabilities, Implementation } from '../../wire/model.js';
import { META } from '../meta-keys.js';
import { isLoggingLevel } from '../reports.js';
import { isModernRevision, LATEST_MODERN, MODERN_REVISIONS } from '../revisions.js';

/** The `_meta` of a modern request: version, client, capabilities. Read from every request (STATE-001). */
type Envelope = ValidEnvelope | RefusedEnvelope;

interface ValidEnvelope extends RequestEnvelope {
  readonly kind: 'valid';
}

interface RefusedEnvelope {
  readonly kind: 'refused';
  readonly error: JsonRpcErrorBody;
}

/**
 * Checks the version first: a request of an unsupported version may follow other rules, and the client needs the list of
 * versions to correct itself (VER-001, META-004).
 */
export function readEnvelope(
  params: JsonObject | undefined,
  principal: string | undefined,
  remote?: string,
): Envelope {
  const meta = params?.['_meta'];
  if (!isJsonObject(meta)) return refused('Missing params._meta, which every modern request needs');
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

/** The sender of a notification. Unlike a request, a notification need not say who sends it. */
export function notifier(
  params: JsonObject | undefined,
  principal: string | undefined,
  remote: string | undefined,
): Peer {
  const envelope = readEnvelope(params, principal, remote);
  if (envelope.kind === 'valid') return envelope.peer;
  return { era: 'modern', revision: LATEST_MODERN, info: undefined, capabilities: {}, principal, remote };
}

/** The answer to an unsupported version, and to `initialize` if only the modern era is served. */
export function unsupportedVersion(requested: string): JsonRpcErrorBody {
  return {
    code: ErrorCode.UnsupportedProtocolVersion,
    message: `Unsupported protocol version; this server supports ${MODERN_REVISIONS.join(', ')}`,
    data: { supported: [...MODERN_REVISIONS], requested },
  };
}

/**
 * The answer to `initialize` on a connection that is modern already. The first accepted request, discovery included,
 * chooses the era, and the specification does not define a later change. So the answer says how to get a session.
 */
export function tooLateForSession(requested: string): JsonRpcErrorBody {
  const versions = MODERN_REVISIONS.join(', ');
  return {
    ...unsupportedVersion(requested),
    message:
      'Unsupported protocol version: this connection is modern, because its first accepted request ' +
      `(server/discover, for example) was modern. Continue with ${versions} requests here. For a session, open a ` +
      'new connection whose first request is initialize',
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

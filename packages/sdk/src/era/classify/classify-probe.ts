import type { ServerFacts } from '../../exchange/call.js';
import { ErrorCode } from '../../wire/error-codes.js';
import { isJsonObject, type JsonObject, type JsonRpcErrorBody } from '../../wire/json-rpc.js';
import type { Implementation, ServerCapabilities } from '../../wire/model.js';
import { META } from '../meta-keys.js';
import {
  isLegacyRevision,
  isModernRevision,
  LATEST_LEGACY,
  type LegacyRevision,
  MODERN_REVISIONS,
  type ModernRevision,
  newestSession,
  REVISION_TABLE,
} from '../revisions.js';

/** The outcome of a `server/discover` request. */
export type ProbeOutcome =
  | { readonly kind: 'result'; readonly result: JsonObject }
  /** `status`: the HTTP status, if that was an error status. */
  | { readonly kind: 'error'; readonly error: JsonRpcErrorBody; readonly status?: number | undefined }
  /** HTTP: an error status without a message. */
  | { readonly kind: 'status'; readonly status: number; readonly message: string }
  /** An error without an id. The probe is the only request, so it belongs to that. */
  | { readonly kind: 'idless'; readonly error: JsonRpcErrorBody }
  /** An answer that cannot be read. */
  | { readonly kind: 'unreadable'; readonly message: string }
  | { readonly kind: 'silence'; readonly afterMs: number }
  | { readonly kind: 'gone'; readonly message: string; readonly error?: unknown };

/** What the outcome says about the server (VER-010, VER-015, VER-016). It never depends on one error code alone. */
export type ProbeVerdict =
  | {
      readonly kind: 'modern';
      readonly revision: ModernRevision;
      readonly server: ServerFacts;
      readonly why: string;
      /** Deviations that other clients may not accept. */
      readonly warnings: readonly string[] | undefined;
    }
  /** A modern server: probe it again with this revision. */
  | { readonly kind: 'retry'; readonly revision: ModernRevision; readonly why: string }
  | { readonly kind: 'legacy'; readonly revision: LegacyRevision; readonly why: string }
  | { readonly kind: 'incompatible'; readonly why: string };

/** `tried`: the revisions of earlier probes. A server that refuses its own versions must not cause a loop. */
export function classifyProbe(outcome: ProbeOutcome, tried: readonly string[]): ProbeVerdict {
  switch (outcome.kind) {
    case 'result':
      return classifyResult(outcome.result);
    case 'error':
      return classifyError(outcome.error, tried);
    case 'status':
      return legacy(`it answered server/discover with HTTP ${outcome.status}`);
    case 'idless':
      return legacy(`it answered server/discover with an error without id (${describe(outcome.error)})`);
    case 'unreadable':
      return legacy(`its answer to server/discover cannot be read (${outcome.message})`);
    case 'silence':
      return legacy(`it did not answer server/discover within ${outcome.afterMs} ms`);
    case 'gone':
      return legacy(`it ended when server/discover was sent (${outcome.message})`);
  }
}

function classifyResult(result: JsonObject): ProbeVerdict {
  const { supportedVersions, protocolVersion, capabilities, instructions } = result;
  const named = Array.isArray(supportedVersions) ? supportedVersions : [protocolVersion];
  const revision = newest(MODERN_REVISIONS, named);
  if (revision && isJsonObject(capabilities ?? {})) {
    return {
      kind: 'modern',
      revision,
      server: {
        info: identityIn(result),
        capabilities: (capabilities ?? {}) as ServerCapabilities,
        instructions: typeof instructions === 'string' ? instructions : undefined,
      },
      why: 'it answered server/discover',
      warnings: draftShapeIn(result),
    };
  }
  if (!Array.isArray(supportedVersions) || !isJsonObject(capabilities)) {
    return legacy('its answer to server/discover is not a DiscoverResult');
  }
  return withoutModern(supportedVersions, 'server/discover');
}

/** DISC-004: in `_meta`. Servers that follow a draft, also betas of the official SDKs, have it at the top level. */
function identityIn({ _meta, serverInfo }: JsonObject): Implementation | undefined {
  const info = isJsonObject(_meta) ? _meta[META.serverInfo] : undefined;
  const told = info ?? (isJsonObject(serverInfo) ? serverInfo : undefined);
  return told as Implementation | undefined;
}

function draftShapeIn({ supportedVersions, serverInfo, _meta }: JsonObject): string[] | undefined {
  const odd: string[] = [];
  if (!Array.isArray(supportedVersions)) odd.push('protocolVersion instead of supportedVersions');
  const isTold = isJsonObject(_meta) && _meta[META.serverInfo] !== undefined;
  if (!isTold && isJsonObject(serverInfo)) odd.push('serverInfo at the top level instead of in _meta');
  return odd.length === 0
    ? undefined
    : [`draft shape: its answer to server/discover has ${odd.join(' and ')}, as drafts of 2026-07-28 had it`];
}

function classifyError(error: JsonRpcErrorBody, tried: readonly string[]): ProbeVerdict {
  if (!MODERN_ERRORS.has(error.code)) return legacy(`it answered server/discover with ${describe(error)}`);
  const supported = isJsonObject(error.data) ? error.data['supported'] : undefined;
  if (error.code !== ErrorCode.UnsupportedProtocolVersion || !Array.isArray(supported)) {
    // Certainly modern, but it does not say what to change: probe once more, then fail.
    const [revision] = MODERN_REVISIONS;
    return tried.length < 2
      ? { kind: 'retry', revision, why: `it answered server/discover with ${describe(error)}` }
      : {
          kind: 'incompatible',
          why: `it is a modern server, and it refuses server/discover: ${describe(error)}`,
        };
  }
  const revision = newest(MODERN_REVISIONS, supported);
  if (!revision) return withoutModern(supported, 'its version error');
  if (tried.includes(revision) && tried.length > 1) {
    return { kind: 'incompatible', why: `it refuses ${revision} although it names it as supported` };
  }
  return { kind: 'retry', revision, why: `it supports ${supported.join(', ')}` };
}

/** The only common version may be a legacy one, unusual as that is: then the handshake is used (wire sheet §10). */
function withoutModern(supported: readonly unknown[], where: string): ProbeVerdict {
  const revision = newestSession(supported);
  if (revision)
    return { kind: 'legacy', revision, why: `${where} names ${revision} as the newest common version` };
  return {
    kind: 'incompatible',
    why: `it supports ${supported.join(', ') || 'no version that it names'}; this client supports ${REVISION_TABLE}`,
  };
}

/**
 * Whether an HTTP error status is evidence of the era. Authorization, overload, broken servers and networks are not: a
 * later probe may get another answer (wire sheet §10).
 */
export function decidesEra(status: number): boolean {
  return status >= 400 && status < 500 && !UNDECIDED.has(status);
}

const UNDECIDED: ReadonlySet<number> = new Set([401, 403, 407, 408, 425, 429]);

/** Only modern servers answer an unknown method like this (ERR-016), and gateways in front of legacy servers. */
export function lacksDiscover(outcome: ProbeOutcome): boolean {
  return (
    outcome.kind === 'error' && outcome.status === 404 && outcome.error.code === ErrorCode.MethodNotFound
  );
}

const MODERN_ERRORS: ReadonlySet<number> = new Set([
  ErrorCode.HeaderMismatch,
  ErrorCode.MissingClientCapability,
  ErrorCode.UnsupportedProtocolVersion,
]);

function newest<T extends string>(known: readonly T[], supported: readonly unknown[]): T | undefined {
  return known.findLast((revision) => supported.includes(revision));
}

function legacy(why: string): ProbeVerdict {
  return { kind: 'legacy', revision: LATEST_LEGACY, why };
}

export function describe(error: JsonRpcErrorBody): string {
  return `${error.code} ${JSON.stringify(error.message)}`;
}

/** The era of a pinned revision; `undefined` for an unknown one. */
export function eraOf(revision: string): 'legacy' | 'modern' | undefined {
  if (isModernRevision(revision)) return 'modern';
  return isLegacyRevision(revision) ? 'legacy' : undefined;
}

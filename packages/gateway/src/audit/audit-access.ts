import { randomUUID } from 'node:crypto';
import type { RefusedRequest } from '@isthmus/sdk/internal/transport/http-server/admission/authorize.js';
import { correlationOf, type DeniedRequest } from '../access/create-authorize.js';
import { targetOf } from '../telemetry/call-record.js';
import type { AuditOutcome, AuditRecord, CallAudit } from './audit-record.js';

/** The record of a request that an HTTP endpoint has refused with 403 (AUTH-S-011). */
export function deniedRecord(denied: DeniedRequest, audit: CallAudit): AuditRecord {
  const { request, server, message, tool, scopes, correlationId } = denied;
  const { method, params = {} } = message ?? {};
  const target = method === undefined ? undefined : targetOf({ method, params });
  return {
    time: new Date().toISOString(),
    correlationId,
    principal: request.principal,
    clientId: request.grant?.clientId,
    remote: request.remote,
    server,
    method,
    tool: tool ?? target?.tool,
    prompt: target?.prompt,
    uri: target?.uri,
    outcome: scopes ? 'insufficient_scope' : 'denied',
    error: undefined,
    scopes,
    durationMs: undefined,
    arguments: message && audit.argumentsOf?.(params),
  };
}

/** The record of a request that was refused for its credential, its host or its origin. The credential is not in it. */
export function refusedRecord(refused: RefusedRequest, server: string | undefined): AuditRecord {
  const { status, why, scopes, caller, remote } = refused;
  const target = { method: undefined, tool: undefined, prompt: undefined, uri: undefined };
  const outcome: AuditOutcome = scopes ? 'insufficient_scope' : 'denied';
  return {
    time: new Date().toISOString(),
    correlationId: correlationOf(refused.header('traceparent')),
    principal: caller?.principal,
    clientId: caller?.clientId,
    remote,
    server,
    ...target,
    outcome: status === 401 ? 'unauthenticated' : outcome,
    error: why,
    scopes,
    durationMs: undefined,
  };
}

/** Writes down that a person came into the console, or was refused. The key, the token and the link are secrets. */
export function auditEntry(audit: CallAudit, who: string | undefined, address: string): void {
  if (!audit.isActive()) return;
  const isIn = who !== undefined;
  audit[isIn ? 'write' : 'refuse']({
    time: new Date().toISOString(),
    correlationId: randomUUID(),
    ...{ principal: who, clientId: undefined, remote: address, server: undefined },
    ...{ method: 'console/enter', tool: undefined, prompt: undefined, uri: undefined },
    outcome: isIn ? 'ok' : 'unauthenticated',
    error: isIn ? undefined : 'This key or token does not open the console',
    ...{ scopes: undefined, durationMs: undefined },
  });
}

import { randomUUID } from 'node:crypto';
import type { CallAudit } from './audit-record.js';

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

import type { LogAttributes } from '@opentelemetry/api-logs';
import { oneLine } from '../telemetry/one-line.js';
import type { AuditRecord, AuditSink } from './audit-record.js';

type LogsApi = typeof import('@opentelemetry/api-logs');

/**
 * Hands records to OpenTelemetry as log records, while a logger provider is registered. Undefined where
 * `@opentelemetry/api-logs` is not installed: then no provider can be registered.
 */
export async function createAuditTelemetry(
  load: () => Promise<LogsApi> = () => import('@opentelemetry/api-logs'),
): Promise<AuditSink | undefined> {
  let api: LogsApi;
  try {
    api = await load();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  }
  const { logs, SeverityNumber } = api;
  return {
    isActive: () => PROVIDER in globalThis,
    write(record) {
      if (!(PROVIDER in globalThis)) return;
      const isRefused = REFUSED.has(record.outcome);
      logs.getLogger('isthmus.audit').emit({
        eventName: 'isthmus.audit',
        timestamp: new Date(record.time),
        severityNumber: isRefused ? SeverityNumber.WARN : SeverityNumber.INFO,
        severityText: isRefused ? 'WARN' : 'INFO',
        body: describe(record),
        attributes: attributesOf(record),
      });
    },
    async close() {},
  };
}

/** Where `@opentelemetry/api-logs` keeps the provider that was registered, in all its versions. */
const PROVIDER = Symbol.for('io.opentelemetry.js.api.logs');

const REFUSED: ReadonlySet<string> = new Set(['denied', 'insufficient_scope', 'unauthenticated']);

function describe({ principal = 'anonymous', method, tool, server, outcome }: AuditRecord): string {
  const place = server === undefined ? [] : ['at', server];
  const words = [principal, method, tool, ...place].filter((each) => each !== undefined);
  // Names come from clients, and the text of a record is often written as a line.
  return `${oneLine(words.join(' '))}: ${outcome}`;
}

function attributesOf(record: AuditRecord): LogAttributes {
  const all: Record<string, string | number | string[] | undefined> = {
    'isthmus.correlation.id': record.correlationId,
    'enduser.id': record.principal,
    'isthmus.client.id': record.clientId,
    'client.address': record.remote,
    'isthmus.server.name': record.server,
    'mcp.method.name': record.method,
    'gen_ai.tool.name': record.tool,
    'gen_ai.prompt.name': record.prompt,
    'mcp.resource.uri': record.uri,
    'isthmus.outcome': record.outcome,
    'error.type': record.error,
    'isthmus.scopes': record.scopes && [...record.scopes],
    'isthmus.count': record.count,
    'isthmus.duration_ms': record.durationMs,
    'isthmus.arguments': record.arguments,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as LogAttributes;
}

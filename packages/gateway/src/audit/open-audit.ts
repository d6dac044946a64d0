import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Redactor } from '../telemetry/redactor.js';
import { openAuditFile } from './audit-file.js';
import type { AuditRecord, AuditSink, CallAudit } from './audit-record.js';
import { createAuditTelemetry } from './audit-telemetry.js';
import { RefusalLog } from './refusal-log.js';

/** The audit log of a gateway. */
export interface AuditOptions {
  /** Where to write it. Undefined: only to OpenTelemetry, if a provider is registered there. */
  readonly file?: string | undefined;
  /** The length at which a new file begins. Default 10 MiB. */
  readonly maxBytes?: number | undefined;
  /** How many older files are kept. Default 5. */
  readonly keep?: number | undefined;
  /** Also writes the arguments of calls, without what looks like a secret. */
  readonly withArguments?: boolean | undefined;
}

export interface OpenAudit extends CallAudit {
  close(): Promise<void>;
}

/** Undefined where there is nothing to write to: then calls cost nothing. */
export async function openAudit(
  { file, maxBytes, keep, withArguments = false }: AuditOptions,
  context: {
    readonly redactor: Redactor;
    readonly clock: Clock;
    readonly warn: (message: string) => void;
    readonly telemetry?: () => Promise<AuditSink | undefined>;
  },
): Promise<OpenAudit | undefined> {
  const { redactor, clock, warn, telemetry = createAuditTelemetry } = context;
  const found = [
    file === undefined ? undefined : await openAuditFile({ file, maxBytes, keep, clock, warn }),
    await telemetry(),
  ];
  const sinks = found.filter((sink) => sink !== undefined);
  if (sinks.length === 0) return undefined;
  const isActive = () => sinks.some((sink) => sink.isActive());
  const write = (record: AuditRecord) => {
    for (const sink of sinks) sink.write(cleaned(record, redactor));
  };
  const refusals = new RefusalLog(clock, write);
  return {
    isActive,
    write,
    refuse: (record) => (isActive() ? refusals.add(record) : record.correlationId),
    ...(withArguments && { argumentsOf: (params: unknown) => argumentsIn(params, redactor) }),
    async close() {
      refusals.flush();
      await Promise.all(sinks.map((sink) => sink.close()));
    },
  };
}

/** Names and URIs come from clients. They may contain secrets, and be as long as a body. */
function cleaned(record: AuditRecord, redactor: Redactor): AuditRecord {
  const { method, tool, prompt, uri } = record;
  const names = { method: shortened(method), tool: shortened(tool), prompt: shortened(prompt) };
  return { ...record, ...names, uri: uri && shortened(redactor.text(uri)) };
}

function shortened(text: string | undefined): string | undefined {
  return text !== undefined && text.length > MAX_NAME ? `${text.slice(0, MAX_NAME)}…` : text;
}

const MAX_NAME = 1024;

function argumentsIn(params: unknown, redactor: Redactor): string | undefined {
  const given = isJsonObject(params) ? params['arguments'] : undefined;
  if (given === undefined) return undefined;
  const text = JSON.stringify(given);
  // Redacting takes time, and a cut text is not JSON any more.
  if (text.length > MAX_ARGUMENTS) return `(${text.length} characters)`;
  return redactor.json(text);
}

const MAX_ARGUMENTS = 16 * 1024;

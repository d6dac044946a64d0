import type { Logger } from 'pino';
import type { CallOutcome, CallRecord } from './call-record.js';
import type { LogLevel } from './create-log.js';

/** Writes that a call is over: what it was, who made it, how it ended. */
export function logCall(log: Logger, record: CallRecord): void {
  const level = record.code === INTERNAL_ERROR ? 'warn' : LEVELS[record.outcome];
  if (!log.isLevelEnabled(level)) return;
  const { server, side, method, tool, prompt, uri, era, revision, outcome, errorType, code } = record;
  const durationMs = Math.round(record.durationMs * 1000) / 1000;
  const fields = {
    ...{
      server,
      request: record.request,
      method,
      tool,
      prompt,
      uri,
      caller: record.principal,
      client: record.client,
    },
    ...{ side, era, revision, durationMs, outcome, errorType, code },
  };
  const target = tool ?? prompt ?? uri;
  const what = target === undefined ? method : `${method} ${target}`;
  log[level](
    fields,
    `${what} ${ENDINGS[outcome]}${record.message === undefined ? '' : `: ${record.message}`}`,
  );
}

/** A client's mistakes are no trouble of whoever runs the gateway; a server that cannot be reached is. */
const INTERNAL_ERROR = -32603;

const LEVELS: Readonly<Record<CallOutcome, Exclude<LogLevel, 'silent'>>> = {
  ok: 'debug',
  input_required: 'debug',
  tool_error: 'debug',
  error: 'info',
  cancelled: 'debug',
};

const ENDINGS: Readonly<Record<CallOutcome, string>> = {
  ok: 'was answered',
  input_required: 'was answered with questions',
  tool_error: 'was answered: the tool failed',
  error: 'failed',
  cancelled: 'was called off',
};

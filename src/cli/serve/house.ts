import type { Logger } from 'pino';
import { controlPath } from '../../gateway/control/index.js';
import { createRateLimit } from '../../gateway/limits/index.js';
import type { OperationOptions } from '../../gateway/operation.js';
import { createLog, createRedactor, type LogLevel } from '../../gateway/telemetry/index.js';
import type { ServeOptions } from './serve-options.js';
import { readStateKeys } from './state-keys.js';

/** What every gateway of the command line has, whatever it serves. */
export type House = Pick<OperationOptions, 'log' | 'redactor' | 'rate' | 'controlPath' | 'stateKeys'> & {
  readonly log: Logger;
};

/** `speaks`: it is the log that tells whoever runs it what happens, unless it is to be quiet. */
export function openHouse(options: ServeOptions, speaks: boolean): House {
  const { rateLimit, control, apiKey = [] } = options;
  const stateKeys = readStateKeys(options.stateKey);
  const redactor = createRedactor([
    ...apiKey.map((key) => key.replace(/^[\w.-]+=(?=[^=])/, '')),
    ...(stateKeys ?? []),
  ]);
  return {
    log: createLog({ level: levelOf(options, speaks), format: formatOf(options), redactor }),
    redactor,
    stateKeys,
    rate: rateLimit === undefined ? undefined : createRateLimit({ perMinute: rateLimit }),
    controlPath: control ? controlPath(`gateway-${process.pid}`) : undefined,
  };
}

function levelOf({ logLevel, logFormat, debug, quiet }: ServeOptions, speaks: boolean): LogLevel {
  if (logLevel !== undefined) return logLevel as LogLevel;
  if (debug) return 'debug';
  if (!speaks && logFormat === undefined) return 'silent';
  return quiet ? 'warn' : 'info';
}

/** People read a terminal; what is piped or kept is for programs. */
function formatOf({ logFormat }: ServeOptions): 'pretty' | 'json' {
  return logFormat ?? (process.stderr.isTTY ? 'pretty' : 'json');
}

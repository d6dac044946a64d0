import type { Logger } from 'pino';
import { messageOf } from '../../errors.js';
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
    controlPath: control ? placeOfControl() : undefined,
  };
}

/** A gateway serves as well without its control socket, as in a container whose file system is read-only. */
function placeOfControl(): string | undefined {
  try {
    return controlPath(`gateway-${process.pid}`);
  } catch (error) {
    const hint =
      'ISTHMUS_RUNTIME_DIR names a folder that can be written to; --no-control says that none is needed';
    process.stderr.write(
      `isthmus: warning: isthmus status, restart and logs cannot reach this gateway. ${messageOf(error)}. ${hint}\n`,
    );
    return undefined;
  }
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

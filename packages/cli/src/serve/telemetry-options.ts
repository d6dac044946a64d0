import { controlPath } from '@isthmus/gateway/internal/control/index.js';
import { createRateLimit } from '@isthmus/gateway/internal/limits/rate-limit.js';
import type { RunGatewayOptions } from '@isthmus/gateway/internal/run-gateway.js';
import { createLog, type LogLevel } from '@isthmus/gateway/internal/telemetry/log.js';
import { createRedactor } from '@isthmus/gateway/internal/telemetry/redactor.js';
import { messageOf } from '@isthmus/sdk/internal/errors.js';
import type { Logger } from 'pino';
import type { ServeCommandOptions } from './serve-options.js';
import { readStateKeys } from './state-keys.js';

/** What every gateway of the command line has, whatever it serves. */
export type TelemetryOptions = Pick<
  RunGatewayOptions,
  'log' | 'redactor' | 'rate' | 'controlPath' | 'stateKeys' | 'maxParked'
> & {
  readonly log: Logger;
};

/** `speaks`: it is the log that tells whoever runs it what happens, unless it is to be quiet. */
export function openTelemetry(options: ServeCommandOptions, speaks: boolean): TelemetryOptions {
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
    maxParked: options.maxParked,
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

function levelOf({ logLevel, logFormat, debug, quiet }: ServeCommandOptions, speaks: boolean): LogLevel {
  if (logLevel !== undefined) return logLevel as LogLevel;
  if (debug) return 'debug';
  if (!speaks && logFormat === undefined) return 'silent';
  return quiet ? 'warn' : 'info';
}

/** People read a terminal; what is piped or kept is for programs. */
function formatOf({ logFormat }: ServeCommandOptions): 'pretty' | 'json' {
  return logFormat ?? (process.stderr.isTTY ? 'pretty' : 'json');
}

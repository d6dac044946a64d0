import { existsSync, readFileSync } from 'node:fs';
import { controlPath } from '@isthmus/gateway/internal/control/index.js';
import { createRateLimit, type RateLimit } from '@isthmus/gateway/internal/limits/rate-limit.js';
import { createSharedRate } from '@isthmus/gateway/internal/limits/shared-rate.js';
import type { RunGatewayOptions } from '@isthmus/gateway/internal/run-gateway.js';
import type { LogLevel } from '@isthmus/gateway/internal/telemetry/log.js';
import { createRedactor } from '@isthmus/gateway/internal/telemetry/redactor.js';
import { messageOf, reasonWithoutPath } from '@isthmus/sdk/internal/errors.js';
import type { Logger } from 'pino';
import { usageError } from '../cli-error.js';
import { type JoinedCluster, joinPlanned, readClusterPlan } from '../cluster/cluster-options.js';
import { checkConsoleAddress } from '../console/console-address.js';
import { readConsoleSignIn } from '../console/console-sign-in.js';
import { processTerminal } from '../terminal/terminal.js';
import { createOperator } from './operator.js';
import type { ServeCommandOptions } from './serve-options.js';

/** What every gateway of the command line has, whatever it serves. */
export type TelemetryOptions = Pick<
  RunGatewayOptions,
  'log' | 'warn' | 'redactor' | 'rate' | 'controlPath' | 'stateKeys' | 'maxParked' | 'openConsole' | 'audit'
> & {
  /** Joined before the gateway is opened. */
  readonly joined: JoinedCluster | undefined;
  readonly log: Logger;
};

/** `speaks`: the log is what the person who runs the gateway reads. Otherwise it is silent by default. */
export async function openTelemetry(
  options: ServeCommandOptions,
  speaks: boolean,
): Promise<TelemetryOptions> {
  // Loaded here, because the demo needs only the keys of this file.
  const { createLog } = await import('@isthmus/gateway/internal/telemetry/log.js');
  const { rateLimit, control, apiKey = [] } = options;
  const stateKeys = readStateKeys(options.stateKey);
  // What can be wrong on the command line comes before the cluster is joined: a member that fails has to leave it.
  const consoleAndAudit = { ...consoleOf(options), audit: auditOf(options) };
  const plan = readClusterPlan(options);
  const redactor = createRedactor([
    ...apiKey.map((key) => key.replace(/^[\w.-]+=(?=[^=])/, '')),
    ...(stateKeys ?? []),
    ...(plan?.secrets ?? []),
  ]);
  const say = (line: string) => createOperator(processTerminal(), options).say(line);
  const joined = await joinPlanned(plan, say);
  const log = createLog({
    level: levelOf(options, speaks),
    format: formatOf(options),
    redactor,
    ...(joined && { fields: () => ({ replica: joined.cluster.members.self }) }),
  });
  return {
    log,
    // That the audit log has no room must be seen, also where the log is silent because it was not asked for.
    ...(isUnasked(options, speaks) && { warn: (message) => say(`isthmus: warning: ${message}`) }),
    joined,
    redactor,
    ...consoleAndAudit,
    stateKeys,
    maxParked: options.maxParked,
    rate: rateLimit === undefined ? undefined : rateOf(rateLimit, joined),
    controlPath: options.worker
      ? options.worker.controlPath
      : control
        ? placeOfControl(options.logFormat === 'json' ? log : undefined)
        : undefined,
  };
}

function auditOf(options: ServeCommandOptions): RunGatewayOptions['audit'] {
  const { auditLog: file, auditMaxSize: maxBytes, auditKeep: keep, auditArguments: withArguments } = options;
  if (file === undefined && (maxBytes !== undefined || keep !== undefined)) {
    throw usageError('--audit-max-size and --audit-keep are about a file', 'Add --audit-log FILE');
  }
  return { file, maxBytes, keep, withArguments };
}

/** The processes of a cluster count the calls of a caller together. */
function rateOf(perMinute: number, joined: JoinedCluster | undefined): RateLimit {
  if (!joined) return createRateLimit({ perMinute });
  return createSharedRate({ perMinute, cluster: joined.cluster, name: 'gateway' });
}

/** The console is loaded when somebody asks for it. */
function consoleOf(options: ServeCommandOptions): Pick<RunGatewayOptions, 'openConsole'> {
  const { console: at, record, config = [], apiKey, bearerFile, jwtJwks, authServer } = options;
  checkConsoleAddress(at, options);
  const signIn = readConsoleSignIn(options);
  if (at === 'off') return {};
  const auth = [
    ...(apiKey ? [`${apiKey.length} keys (--api-key)`] : []),
    ...(bearerFile === undefined ? [] : ['tokens of a file (--bearer-file)']),
    ...(jwtJwks === undefined ? [] : ['JWTs (--jwt-jwks)']),
    ...(authServer && jwtJwks === undefined ? ['tokens (--auth-server)'] : []),
  ];
  return {
    async openConsole(source) {
      const { openServeConsole } = await import('../console/serve-console.js');
      return openServeConsole(source, {
        ...{ host: at?.host, port: at?.port, mayRecord: record, files: config, signIn },
        trustProxy: options.trustProxy,
        ...(options.consoleBehindTls && { names: options.allowHost }),
        hasPrincipals: auth.length > 0,
        auth: auth.length > 0 ? auth : ['none: every client may call'],
      });
    },
  };
}

/** A gateway works without its control socket, as in a container whose file system is read-only. */
function placeOfControl(log: Logger | undefined): string | undefined {
  try {
    return controlPath(`gateway-${process.pid}`);
  } catch (error) {
    const hint = 'Set ISTHMUS_RUNTIME_DIR to a folder that can be written to, or give --no-control';
    const warning = `isthmus status, restart and logs cannot reach this gateway. ${messageOf(error)}. ${hint}`;
    if (log) log.warn({}, warning);
    else process.stderr.write(`isthmus: warning: ${warning}\n`);
    return undefined;
  }
}

function levelOf({ logLevel, logFormat, debug, quiet }: ServeCommandOptions, speaks: boolean): LogLevel {
  if (logLevel !== undefined) return logLevel as LogLevel;
  if (debug) return 'debug';
  if (isUnasked({ logFormat }, speaks)) return 'silent';
  return quiet ? 'warn' : 'info';
}

/** Whether nothing was said about the log, and the person who runs the gateway reads something else. */
function isUnasked(
  options: Pick<ServeCommandOptions, 'logLevel' | 'logFormat' | 'debug'>,
  speaks: boolean,
): boolean {
  const { logLevel, logFormat, debug } = options;
  return !speaks && logLevel === undefined && !debug && logFormat === undefined;
}

/** A terminal is read by a person, a pipe or a file by a program. */
function formatOf({ logFormat }: ServeCommandOptions): 'pretty' | 'json' {
  return logFormat ?? (process.stderr.isTTY ? 'pretty' : 'json');
}

/**
 * The keys that seal `requestState`: from the file of --state-key, else from ISTHMUS_STATE_KEY. The first seals, all
 * open. A key is never given on the command line, where every user of the machine can read it. No error shows one.
 */
export function readStateKeys(file: string | undefined): readonly string[] | undefined {
  const given = process.env['ISTHMUS_STATE_KEY'];
  // Child processes must not inherit it.
  delete process.env['ISTHMUS_STATE_KEY'];
  if (file !== undefined) return toKeys(readKeyFile(file), `The file of --state-key, ${file},`);
  return given ? toKeys(given, 'ISTHMUS_STATE_KEY') : undefined;
}

function readKeyFile(file: string): string {
  // A path can have the length and the characters of a key, so the file is looked for first.
  if (isKey(file) && !existsSync(file)) {
    throw usageError(
      '--state-key takes the path of a file, and this is a key',
      `${ON_COMMAND_LINE}. ${HINT}`,
    );
  }
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    // The value is not shown: it may be a key in another form, in hex for example.
    throw usageError(`The file of --state-key cannot be read: ${reasonWithoutPath(error)}`, HINT);
  }
}

function toKeys(text: string, where: string): readonly string[] {
  const lines = text.split('\n').map((line) => line.trim());
  const keys = lines
    .filter((line) => !line.startsWith('#'))
    .flatMap((line) => line.split(/[\s,]+/).filter(Boolean));
  const wrong = keys.findIndex((key) => !isKey(key));
  if (keys.length > 0 && wrong === -1) return keys;
  const what = keys.length === 0 ? 'holds no key' : `holds something that is not a key (number ${wrong + 1})`;
  throw usageError(`${where} ${what}: a key is 32 bytes as base64url, 43 characters`, HINT);
}

/** 32 bytes; padding and the other alphabet of base64 are accepted, as `Buffer` does. */
function isKey(text: string): boolean {
  return /^[\w+/-]{43}=?$/.test(text);
}

const ON_COMMAND_LINE = 'Every user of the machine can read a command line, so make a new key';
const HINT =
  'Make one with: openssl rand -base64 32. Put it into a file that only you can read, or into ISTHMUS_STATE_KEY; several, one a line, the first seals';

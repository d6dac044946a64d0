import type { UpstreamFacts } from '@isthmus/sdk/internal/bridge/upstream-facts.js';
import type { Mode } from '@isthmus/sdk/internal/client/options.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import type { HostEvent } from '@isthmus/sdk/internal/host/host-event.js';
import { DEFAULT_RESTART } from '@isthmus/sdk/internal/host/process/process-state.js';
import { CliError, EXIT } from '../cli-error.js';
import { describeFailure } from '../describe-failure.js';
import { BEARER, curlLines, howWeWereCalled, pasteLines } from '../hosts/paste-lines.js';
import { type CommandTarget, quote } from '../target.js';
import { cut, oneLine } from '../terminal/text.js';

export interface Announcement {
  /** What the server is called in a host. */
  readonly name: string;
  /** What is served, for people. */
  readonly what: string;
  /** Whether clients have to send a key. */
  readonly needsKey: boolean;
  /** Also shows requests for curl. */
  readonly verbose: boolean;
}

/** The addresses, and lines for hosts that can be pasted. */
export function describeAddresses(addresses: readonly string[], announcement: Announcement): string[] {
  const open = addresses.filter((address) => address !== 'stdio');
  if (open.length === 0) return [];
  const { what } = announcement;
  return [
    `Isthmus serves ${what} to clients of both eras:`,
    '',
    ...open.map((address) => `  ${address}`),
    '',
    ...describeConnecting(open, announcement),
    STOP,
  ];
}

/** The servers of a gateway. `broken`: those whose definition has an error. */
export interface NamesOfServers {
  readonly names: readonly string[];
  readonly broken: ReadonlySet<string>;
}

/** The addresses of many servers. */
export function describeGateway(
  addresses: readonly string[],
  { names, broken }: NamesOfServers,
  announcement: Omit<Announcement, 'name' | 'what'>,
): string[] {
  const open = addresses.filter((address) => address !== 'stdio');
  if (open.length === 0) return [];
  const all = names.length === 1 ? '1 server' : `${names.length} servers`;
  const count = broken.size === 0 ? all : `${names.length - broken.size} of ${all}`;
  const lines = [`Isthmus serves ${count} to clients of both eras:`, ''];
  for (const address of open) {
    lines.push(`  ${address}${names.length > 1 ? '   (all of them together)' : ''}`);
    if (!address.startsWith('http')) continue;
    const { origin } = new URL(address);
    for (const name of names) {
      const why = broken.has(name) ? `   (unusable; isthmus doctor ${quote(name)} says why)` : '';
      lines.push(`    ${origin}/mcp/${encodeURIComponent(name)}${why}`);
    }
    lines.push(`    ${origin}/status shows their state`);
  }
  const name = names.length === 1 ? names[0]! : 'isthmus';
  return [...lines, '', ...describeConnecting(open, { ...announcement, name, what: count }), STOP];
}

const STOP = 'Ctrl-C stops it; running calls are finished first.';

/** What people paste: the line of each host, and a command to try the first address. */
function describeConnecting(
  addresses: readonly string[],
  { name, what, needsKey, verbose }: Announcement,
): string[] {
  const isthmus = howWeWereCalled();
  const url = addresses.find((address) => address.startsWith('http'));
  const first = url ?? addresses[0]!;
  const key = needsKey && url !== undefined ? ` -H ${BEARER}` : '';
  const rows = [
    ...(url === undefined ? [] : pasteLines({ name, url, needsKey })),
    ['try it', `${isthmus} list ${first}${key}`],
    ...(what === DEMO ? [['', `${isthmus} call ${first} echo text=hello`]] : []),
    ...(verbose && url !== undefined
      ? curlLines(url, needsKey).map((line, at) => [at === 0 ? 'modern' : 'legacy', line])
      : []),
  ];
  return ['Connect a client:', ...rows.map(([label, line]) => `  ${label!.padEnd(11)}  ${line}`), ''];
}

export const DEMO = 'its own demo server';

/** The server, once it has answered. */
export function describeUpstream(
  label: string,
  { info, era, revision }: UpstreamFacts,
  onStdio: boolean,
): string {
  const server = `${label} (${oneLine(info.name)} ${oneLine(info.version)}), a ${era} server (${revision})`;
  return onStdio ? `isthmus: serving ${server}, on stdio` : `Behind it: ${server}.`;
}

/**
 * The line about an event of the process, for events that an operator should know. Before the first answer (`isKnown`), the
 * code that starts the server reports failures. A process that is not needed (`isNeeded`) is started by the next request.
 */
export function describeEvent(
  event: HostEvent,
  { isKnown, isNeeded }: { readonly isKnown: boolean; readonly isNeeded: boolean },
): string | undefined {
  if (!isKnown && ABOUT_STARTS.has(event.kind)) return undefined;
  switch (event.kind) {
    case 'exit':
      return event.expected ? undefined : named(event.server, oneLine(event.reason));
    case 'restart':
      return isNeeded
        ? `${event.server} is started again in ${inSeconds(event.delayMs)} (${event.attempt} of ${DEFAULT_RESTART.attempts})`
        : `${event.server} is started again with the next request`;
    case 'crash-loop':
      return `${event.server} ended ${event.attempts + 1} times in a row; it is started again with a request, but not in the next ${inSeconds(DEFAULT_RESTART.stableMs)}`;
    case 'kill':
      return `${event.server} was killed: ${oneLine(event.why)}`;
    case 'queue':
      return event.refused ? `${event.server} is busy: a call was refused` : undefined;
    case 'reaped':
      return `a process that an earlier run left behind was ended (pid ${event.pid})`;
    default:
      return undefined;
  }
}

const ABOUT_STARTS: ReadonlySet<string> = new Set(['exit', 'restart', 'crash-loop']);

/** Most reasons contain the name. */
function named(server: string, reason: string): string {
  return reason.includes(server) ? reason : `${server}: ${reason}`;
}

export function inSeconds(ms: number): string {
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`;
}

/** A command line can contain a whole program, so it is cut. */
export function oneLabel(words: readonly string[]): string {
  return cut(oneLine(words.join(' ')), MAX_LABEL);
}

const MAX_LABEL = 200;

export interface StartContext {
  readonly target: CommandTarget;
  /** What the server is called in lines about it. */
  readonly name: string;
  readonly mode: Mode;
}

/** Why the server could not be reached, with hints that name the options of `serve`. */
export function describeStartFailure(error: unknown, { target, name, mode }: StartContext): CliError {
  const context = { target, label: name, connected: false, mode, stderrTail: [] };
  const { message, hint, evidence } = describeFailure(error, context);
  const known = error instanceof IsthmusError ? hintFor(error, target, mode) : undefined;
  const said = known ?? hint;
  return new CliError(EXIT.cannotConnect, withoutAdvice(oneLine(message)), {
    ...(said !== undefined && { hint: said }),
    evidence,
  });
}

/** Whether no later attempt can succeed. */
export function isHopeless(error: unknown): boolean {
  return error instanceof IsthmusError && HOPELESS.has(error.code);
}

/** Whether the process ended before it answered. A later attempt may succeed. */
export function hasEnded(error: unknown): boolean {
  return (
    error instanceof IsthmusError && (error.code === 'CHILD_EXITED' || error.code === 'CONNECTION_CLOSED')
  );
}

const HOPELESS: ReadonlySet<string> = new Set([
  'CANNOT_START',
  'CRASH_LOOP',
  'INVALID_OPTION',
  'NO_COMMON_REVISION',
]);

function hintFor({ code }: IsthmusError, target: CommandTarget, mode: Mode): string | undefined {
  switch (code) {
    case 'NO_COMMON_REVISION':
      return mode === 'auto' ? undefined : '--era auto detects it';
    case 'TIMED_OUT':
      return target.kind === 'command'
        ? 'Is it an MCP server that speaks over stdin and stdout? Run the command by itself to see what it does'
        : 'Is an MCP server running there?';
    case 'CHILD_EXITED':
    case 'CRASH_LOOP':
      return 'Run the command directly to see what it needs; isthmus gives it a clean environment, pass variables with --env NAME';
    default:
      return undefined;
  }
}

/** Removes the advice for programs. The hint has the advice for people. */
function withoutAdvice(message: string): string {
  const advice = message.lastIndexOf('; connect with mode ');
  return advice >= 0 && message.endsWith(' to use it') ? message.slice(0, advice) : message;
}

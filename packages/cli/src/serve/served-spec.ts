import { statSync } from 'node:fs';
import type { ServerSpec } from '@isthmus/sdk/internal/config/server-spec.js';
import { usageError } from '../cli-error.js';
import { settingsOfFlags } from '../server-flags.js';
import {
  type CommandTarget,
  commandTarget,
  quote,
  splitCommandLine,
  type TargetSettings,
  targetAt,
  withSettings,
} from '../target.js';
import type { ServeCommandOptions } from './serve-options.js';

export interface ServedSpecDefaults {
  /** For `--processes` that was not given. */
  readonly processes: 'shared' | 'per-conversation' | 'per-principal';
  /** Default `lazy`: `serve` starts a single server itself and reports how its first start goes. */
  readonly start?: 'lazy' | 'eager';
  /** Default: `--name`, or a name made of the command or the address. */
  readonly name?: string;
}

/** A server of the command line, with what the options of `serve` say about it. */
export function servedSpec(
  target: CommandTarget,
  options: ServeCommandOptions,
  { processes: byDefault, start = 'lazy', name = options.name ?? target.name }: ServedSpecDefaults,
): ServerSpec {
  const spec: ServerSpec = {
    ...withSettings(target, targetSettingsOf(options)),
    name,
    mode: 'auto',
    ...settingsOfFlags('serve', options, target.kind),
  };
  if (spec.kind !== 'command') return spec;
  return { ...spec, start, processes: spec.processes ?? byDefault };
}

function targetSettingsOf({ cwd, env, header, transport }: ServeCommandOptions): TargetSettings {
  return { cwd, env, header, transport: transport && TRANSPORTS[transport] };
}

const TRANSPORTS = { 'http-first': 'auto', 'http-only': 'http-only', 'sse-only': 'sse' } as const;

/** What was typed behind `isthmus serve`. */
export interface TypedUpstream {
  /** Everything up to `--`, as it was typed. */
  readonly before: readonly string[];
  /** The words among it, which have no meaning here, and what follows them. */
  readonly words: readonly string[];
  readonly behind: readonly string[] | undefined;
  readonly upstream: string | undefined;
}

/** The server that is to be served: a command, an address, or (undefined) our own. */
export function findUpstream({ before, words, behind, upstream }: TypedUpstream): CommandTarget | undefined {
  if (words.length > 0) throw wordsOf(before, words, behind ?? upstream);
  if (behind && upstream !== undefined) {
    throw usageError(
      `Two targets: ${upstream}, and the command after --`,
      'Give one: --upstream ADDRESS for a server that runs already, or -- COMMAND ARGS… to start one',
    );
  }
  if (behind) {
    const [command, ...args] = behind;
    if (command) return commandTarget(command, args);
    throw usageError('No command after --', 'isthmus serve … -- node server.js');
  }
  if (upstream === undefined) return undefined;
  const target = targetAt(upstream);
  if (target) return target;
  throw usageError(`"${upstream}" is not a server address`, noAddress(upstream));
}

/** The commonest mistake: the command stands there without its `--`, or the address without its option. */
function wordsOf(before: readonly string[], words: readonly string[], other: unknown): Error {
  const [first = ''] = words;
  const wrong = `serve takes no arguments of its own: "${first}"`;
  if (other !== undefined) {
    return usageError(wrong, 'Leave it out, or put it after -- if it belongs to a command');
  }
  const { taken, rest } = takeOptions(words, /^(--listen|-l)$/, LISTENS);
  const ours = takeOptions(rest, /^(--port|-p|--host)$/, /^[\w.:]+$/);
  const earlier = [...shown(before.slice(0, before.length - words.length)), ...taken];
  const line = (more: readonly string[]) =>
    ['isthmus serve', ...[...earlier, ...more].map((word) => (word === '…' ? word : quote(word)))].join(' ');
  const either =
    ours.taken.length > 0 ? `; or, for isthmus: ${line(ours.taken)} -- ${asCommand(ours.rest)}` : '';
  return usageError(wrong, `A command goes after --: ${line([])} -- ${asCommand(rest)}${either}`);
}

/** `isthmus serve some-server --listen stdio`: that is hardly meant for the server. `--port 8080` may be. */
function takeOptions(
  words: readonly string[],
  option: RegExp,
  value: RegExp,
): { readonly taken: readonly string[]; readonly rest: readonly string[] } {
  const taken: string[] = [];
  const rest: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]!;
    const next = words[at + 1];
    if (option.test(word) && next !== undefined && value.test(next)) {
      taken.push(word, next);
      at += 1;
    } else rest.push(word);
  }
  return { taken, rest };
}

const LISTENS = /^(stdio$|unix:|tcp:\/\/|http:\/\/)/;

/** The options, to be typed again. Values that may be secrets are not shown. */
function shown(options: readonly string[]): readonly string[] {
  return options.some((word) => SECRET.test(word)) ? ['…'] : options;
}

const SECRET = /^(-H|--header|--env|--api-key)/;

function asCommand([first = '', ...rest]: readonly string[]): string {
  // A whole command line in quotes is typed often.
  const words = [...splitCommandLine(first), ...rest];
  return [...(/\.[cm]?js$/.test(words[0]!) ? ['node'] : []), ...words].map(quote).join(' ');
}

function noAddress(upstream: string): string {
  if (upstream === 'stdio') return 'A server on stdio is started here: isthmus serve -- COMMAND ARGS…';
  if (/^tcp:/i.test(upstream)) return 'Write --upstream tcp://127.0.0.1:4000';
  const [, place, path = ''] = /^((?:\[[^\]]+\]|[\w.-]+):\d{1,5})(\/.*)?$/.exec(upstream) ?? [];
  if (place !== undefined) {
    return `Did you mean --upstream http://${place}${path || '/mcp'}${path ? '' : `, or --upstream tcp://${place}`}?`;
  }
  const file = statSync(upstream, { throwIfNoEntry: false });
  if (file?.isSocket()) return `Did you mean --upstream unix:${quote(upstream)}?`;
  if (file) return `To start a server, put its command after --: isthmus serve -- ${asCommand([upstream])}`;
  return 'Write --upstream http://HOST:PORT/PATH, unix:PATH or tcp://HOST:PORT; a command goes after --: isthmus serve -- COMMAND ARGS…';
}

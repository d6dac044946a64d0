import { readFileSync } from 'node:fs';
import { fileReason } from '@isthmus/sdk/internal/errors.js';
import { usageError } from '../cli-error.js';

/** The arguments of a command: those before `--`, and those after it. */
export interface CommandLine {
  readonly args: readonly string[];
  readonly afterDashes: readonly string[] | undefined;
}

/** The translation of a command line, while it is built. */
export interface DraftLine {
  /** Options of ours. */
  readonly args: string[];
  /** The command to start. */
  command: readonly string[] | undefined;
  /** The command runs in a shell. */
  shell?: boolean;
  /** Listen on stdio unless the line has an address. */
  stdioByDefault?: boolean;
  /** The line asks for HTTP without an address. */
  wantsHttp?: boolean;
  /** The transport that `--endpoint` is for. */
  server?: string;
  /** The path of `--endpoint`. */
  endpoint?: string;
  /** The name of an `--env` whose next argument is either its value or a command. */
  ambiguousEnv?: string;
}

/**
 * How many arguments follow an option: none, one, two (or one with both: `NAME=VALUE`), at most one, or all that are
 * origins.
 */
export type FlagValues = 'nothing' | 'one' | 'two' | 'maybe' | 'origins';

/** An option of another program. */
export interface CompatFlag {
  readonly takes: FlagValues;
  /** Adds our options that do the same. Throws where there are none. */
  apply(values: readonly string[], draft: DraftLine): void;
}

/** By the name of the option, in kebab-case, without dashes. */
export type CompatFlags = Readonly<Record<string, CompatFlag>>;

/** An option that we have under another name. */
export function renamed(option: string, toOurs: (value: string) => string = (value) => value): CompatFlag {
  return {
    takes: 'one',
    apply: ([value = ''], { args }) => void args.push(option, toOurs(value)),
  };
}

/** An option that asks for what we always do. */
export function ignored(takes: FlagValues = 'nothing'): CompatFlag {
  return { takes, apply: () => {} };
}

/** An option that we do not support, with the reason and the alternative. */
export function refused(why: string, hint: string, takes: FlagValues = 'nothing'): CompatFlag {
  return {
    takes,
    apply() {
      throw usageError(why, hint);
    },
  };
}

/** An option without a value that stands for options of ours. */
export function replaced(...ours: readonly string[]): CompatFlag {
  return { takes: 'nothing', apply: (_values, { args }) => void args.push(...ours) };
}

/** mcp-proxy names the token endpoint, and logs in as a client without a user. */
export const tokenUrl: CompatFlag = {
  takes: 'one',
  apply: ([url = ''], { args }) => void args.push('--auth', 'client-credentials', '--token-endpoint', url),
};

/** The log levels of other programs: `none`, `INFO`, `WARNING`, `CRITICAL`. */
export const logLevel: CompatFlag = {
  takes: 'one',
  apply: ([level = ''], { args }) =>
    void args.push('--log-level', LEVELS[level.toLowerCase()] ?? level.toLowerCase()),
};

const LEVELS: Readonly<Record<string, string>> = {
  none: 'silent',
  off: 'silent',
  warning: 'warn',
  critical: 'error',
};

export const bearer: CompatFlag = {
  takes: 'one',
  apply: ([token = ''], { args }) => void args.push('--header', `Authorization: Bearer ${token}`),
};

/** `--headers Authorization "Bearer …"`: the name and the value are two arguments. */
export const header: CompatFlag = {
  takes: 'two',
  apply: ([first = '', second], { args }) =>
    void args.push('--header', second === undefined ? first : `${first}: ${second}`),
};

/**
 * A file with one `Name: value` a line; `#` starts a comment. Unlike arguments, a file is not visible in the list of
 * processes.
 */
export const headerFile: CompatFlag = {
  takes: 'one',
  apply([file = ''], { args }) {
    let text: string;
    try {
      text = readFileSync(file, 'utf8');
    } catch (error) {
      throw usageError(`Cannot read --header-file ${file}: ${fileReason(error)}`);
    }
    for (const [at, line] of text.split(/\r?\n/).entries()) {
      if (/^\s*(#|$)/.test(line)) continue;
      // The error does not quote the line: it is most likely a secret.
      if (!/^\s*[\w!#$%&'*+.^`|~-]+\s*:/.test(line)) {
        throw usageError(`Line ${at + 1} of ${file} is not a header`, 'Write Name: value, one per line');
      }
      args.push('--header', line.trim());
    }
  },
};

export function pathFlag(option: string): CompatFlag {
  return {
    takes: 'one',
    apply([path = ''], { args }) {
      args.push('--path', checkedPath(option, path));
    },
  };
}

export function checkedPath(option: string, path: string): string {
  if (/^\/[^?#\s]*$/.test(path)) return path;
  throw usageError(`${option} "${path}" is not a path`, `A path starts with /: ${option} /mcp`);
}

export function allowOrigins(origins: readonly string[]): readonly string[] {
  const pattern = origins.find((origin) => /^\/.+\/$/.test(origin));
  if (pattern !== undefined) {
    throw usageError(
      `${pattern}: patterns are not supported for origins`,
      'Name each origin, --allow-origin https://app.example.com, or * for all',
    );
  }
  return origins.flatMap((origin) => ['--allow-origin', origin.replace(/\/$/, '')]);
}

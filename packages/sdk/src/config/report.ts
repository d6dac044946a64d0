import { type Document, keyOf, type Path } from './documents/document.js';
import type { Source } from './server-spec.js';

/** A problem of a file. The message names keys and variables, never values, which may be secrets. */
export interface ConfigProblem {
  /** After an `error` the server is not used, or the file if `server` is not set. After a `warning` it is. */
  readonly severity: 'error' | 'warning';
  readonly file: string;
  /** `line` and `column` start at 1. Both are 0 if the file could not be read. */
  readonly line: number;
  readonly column: number;
  /** For example `mcpServers.weather.args[0]`; empty for the file as a whole. */
  readonly key: string;
  readonly message: string;
  /** What to do, if the message does not say it. */
  readonly hint?: string;
  /** The reference without a value: the name of a variable, or `input:ID`. */
  readonly missing?: string;
  readonly server?: string;
}

/** Collects the problems of one server, or of a file as a whole. */
export interface ConfigReport {
  readonly problems: readonly ConfigProblem[];
  /** Whether an error was reported. */
  readonly failed: boolean;
  error(path: Path, message: string, more?: ProblemDetails): void;
  warning(path: Path, message: string, more?: ProblemDetails): void;
}

type ProblemDetails = Pick<ConfigProblem, 'hint' | 'missing'>;

export function createReport(file: string, document: Document, server?: string): ConfigReport {
  const problems: ConfigProblem[] = [];
  let failed = false;
  const add = (
    severity: ConfigProblem['severity'],
    path: Path,
    message: string,
    more: ProblemDetails = {},
  ) => {
    problems.push({
      severity,
      file,
      ...document.placeOf(path),
      key: keyOf(path),
      message,
      ...more,
      ...(server !== undefined && { server }),
    });
  };
  return {
    problems,
    get failed() {
      return failed;
    },
    error(path, message, more) {
      failed = true;
      add('error', path, message, more);
    },
    warning: (path, message, more) => add('warning', path, message, more),
  };
}

export function sourceOf(file: string, document: Document, path: Path): Source {
  return { file, line: document.placeOf(path).line, key: keyOf(path) };
}

/** One line for people: `.mcp.json:4:7 mcpServers.weather.args: must be a list of strings, not a number`. */
export function describeProblem({ file, line, column, key, message }: ConfigProblem): string {
  const place = line > 0 ? `${file}:${line}:${column}` : file;
  return key === '' ? `${place}: ${message}` : `${place} ${key}: ${message}`;
}

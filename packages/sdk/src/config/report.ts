import { type Document, keyOf, type Path } from './documents/document.js';
import type { Source } from './server-spec.js';

/** Something to tell the author of a file. The message names keys and variables, never values. */
export interface ConfigProblem {
  /** An `error` costs the server, or the file where `server` is not set; a `warning` costs nothing. */
  readonly severity: 'error' | 'warning';
  readonly file: string;
  /** From 1, as `column`; both are 0 where the file could not be read at all. */
  readonly line: number;
  readonly column: number;
  /** For example `mcpServers.weather.args[0]`; empty for the file as a whole. */
  readonly key: string;
  readonly message: string;
  /** What to do about it, where the message does not say so itself. */
  readonly hint?: string;
  /** What the file refers to and has no value here: the name of a variable, or `input:ID`. */
  readonly missing?: string;
  readonly server?: string;
}

/** Collects what is wrong with one server, or with a file as a whole. */
export interface ConfigReport {
  readonly problems: readonly ConfigProblem[];
  /** Whether there was an error. */
  readonly failed: boolean;
  error(path: Path, message: string, more?: MoreOfProblem): void;
  warning(path: Path, message: string, more?: MoreOfProblem): void;
}

type MoreOfProblem = Pick<ConfigProblem, 'hint' | 'missing'>;

export function createReport(file: string, document: Document, server?: string): ConfigReport {
  const problems: ConfigProblem[] = [];
  let failed = false;
  const add = (
    severity: ConfigProblem['severity'],
    path: Path,
    message: string,
    more: MoreOfProblem = {},
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

/** One line for people: `.mcp.json:4:7 mcpServers.weather.args: must be a list of strings, and is a number`. */
export function describeProblem({ file, line, column, key, message }: ConfigProblem): string {
  const place = line > 0 ? `${file}:${line}:${column}` : file;
  return key === '' ? `${place}: ${message}` : `${place} ${key}: ${message}`;
}

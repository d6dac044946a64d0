import type { Problem } from './diagnosis.js';

/** What is known of the variables of the server. */
export interface VariableFacts {
  /** Those that it gets. */
  readonly given: ReadonlySet<string>;
  /** Those that are set here, given on or not. */
  readonly ours: ReadonlySet<string>;
}

/** What the last words of a program say about why it ended. Pure; undefined where they say nothing that is known. */
export function interpretStderr(lines: readonly string[], variables?: VariableFacts): Problem | undefined {
  for (const line of lines) {
    for (const { pattern, read } of SIGNS) {
      const match = pattern.exec(line);
      const problem = match && read(match, variables);
      if (problem) return problem;
    }
  }
  return undefined;
}

interface Sign {
  readonly pattern: RegExp;
  readonly read: (match: RegExpExecArray, variables: VariableFacts | undefined) => Problem | undefined;
}

const SIGNS: readonly Sign[] = [
  {
    pattern: /EADDRINUSE|address already in use(?:.*?[:\s](\d{2,5})\b)?/i,
    read(match) {
      const port = match[1] ?? /:(\d{2,5})\b/.exec(match.input)?.[1];
      return {
        code: 'port-in-use',
        message: `It wants ${port ? `port ${port}` : 'a port'} that another process has`,
        advice: `End the other process${port ? ` (lsof -i :${port} names it)` : ''}; it may be a second copy of this server. A server behind stdio needs no port`,
      };
    },
  },
  {
    pattern: /(?:Cannot find (?:module|package)|No module named|ModuleNotFoundError:?.*?) ?['"]([^'"]+)['"]/,
    read: ([, name]) => ({
      code: 'module-missing',
      message: `It needs ${name}, which is not there`,
      advice: /^[./\\]|^file:/.test(name!)
        ? 'Check the path in args: relative paths start from cwd'
        : 'Install what the server needs, where it runs (npm install, pip install, or uvx, which does so itself)',
    }),
  },
  {
    pattern:
      /npm (?:error|ERR!) (?:code )?E?404|No matching distribution found|not found in the package registry/i,
    read: () => ({
      code: 'module-missing',
      message: 'The package that is to be run does not exist',
      advice: 'Check the name of the package in args',
    }),
  },
  {
    pattern:
      /\b([A-Z][A-Z0-9]*_[A-Z0-9_]+)\b(?=.*\b(?:not set|unset|missing|required|undefined|must be|not defined|not provided|not found|empty|need)|.*KeyError)|\b(?:missing|required|requires|need|needs|set|provide|KeyError)\b[^A-Z]*\b([A-Z][A-Z0-9]*_[A-Z0-9_]+)\b/,
    read([, before, behind], variables) {
      const name = before ?? behind!;
      // Systems' own codes look alike.
      if (/^(ERR_|E[A-Z]+_)/.test(name) || variables?.given.has(name)) return undefined;
      return {
        code: 'variable-missing',
        message: `It seems to need the variable ${name}, and does not get it`,
        advice: variables?.ours.has(name)
          ? `It is set here, but servers get a clean environment: add "env": { "${name}": "\${${name}}" }, or "inheritEnv": ["${name}"]`
          : `Add "env": { "${name}": "…" }, or set it here and add "env": { "${name}": "\${${name}}" }`,
      };
    },
  },
  {
    pattern: /EACCES|permission denied/i,
    read: () => ({
      code: 'permission',
      message: 'It may not do something that it wants to do',
      advice: 'Its stderr says what; it runs as you do',
    }),
  },
];

import type { Problem } from './diagnosis.js';

/** The names of environment variables. */
export interface VariableFacts {
  /** The variables that the server gets. */
  readonly given: ReadonlySet<string>;
  /** The variables of this process. */
  readonly ours: ReadonlySet<string>;
}

/** Finds the cause in the last stderr lines of a program. Pure. Undefined when no known pattern matches. */
export function interpretStderr(lines: readonly string[], variables?: VariableFacts): Problem | undefined {
  // Some patterns need quadratic time in the length of a line, and the program chooses the length.
  const short = lines.slice(-MAX_LINES).map((line) => line.slice(0, MAX_LENGTH));
  for (const line of short) {
    for (const { pattern, read } of SIGNS) {
      const match = pattern.exec(line);
      const problem = match && read(match, { lines: short, variables });
      if (problem) return problem;
    }
  }
  return undefined;
}

/** The stderr line that the reason of an exit quotes. It may be older than the kept lines. */
export function quotedLine(sentence: string): string[] {
  const quoted = /last stderr: ("(?:[^"\\]|\\.)*")/.exec(sentence)?.[1];
  return quoted === undefined ? [] : [String(JSON.parse(quoted))];
}

const MAX_LINES = 100;
const MAX_LENGTH = 500;

interface Sign {
  readonly pattern: RegExp;
  readonly read: (
    match: RegExpExecArray,
    about: { readonly lines: readonly string[]; readonly variables: VariableFacts | undefined },
  ) => Problem | undefined;
}

const SIGNS: readonly Sign[] = [
  {
    pattern: /EADDRINUSE|address already in use(?:.*?[:\s](\d{2,5})\b)?/i,
    read(match, { lines }) {
      // Node prints the properties of the error after its message.
      const property = /^[ \t]*port: (\d{2,5})\b/m.exec(lines.join('\n'))?.[1];
      const port = match[1] ?? /:(\d{2,5})\b/.exec(match.input)?.[1] ?? property;
      return {
        code: 'port-in-use',
        message: `It needs ${port ? `port ${port}` : 'a port'}, which another process uses`,
        advice: `End the other process${port ? ` (find it with lsof -i :${port})` : ''}; it may be a second copy of this server. A stdio server needs no port`,
      };
    },
  },
  {
    pattern: /(?:Cannot find (?:module|package)|No module named|ModuleNotFoundError:?.*?) ?['"]([^'"]+)['"]/,
    read: ([, name]) => ({
      code: 'module-missing',
      message: `It needs ${name}, which does not exist`,
      advice: /^[./\\]|^file:/.test(name!)
        ? 'Check the path in args: relative paths start from cwd'
        : 'Install the dependencies of the server in its folder (npm install, pip install), or run it with uvx',
    }),
  },
  {
    pattern:
      /npm (?:error|ERR!) (?:code )?E?404|No matching distribution found|not found in the package registry/i,
    read: () => ({
      code: 'module-missing',
      message: 'The package of the command does not exist',
      advice: 'Check the name of the package in args',
    }),
  },
  {
    pattern:
      /not set|unset|missing|requir|undefined|must be|not (?:defined|provided|found)|empty|\bneeds?\b|\bset\b|\bprovide\b|KeyError/i,
    read({ input }, { variables }) {
      const names: readonly string[] = input.match(/\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b/g) ?? [];
      // Error codes look like variables. A variable that the server gets is not missing.
      const name = names.find((each) => !/^ERR_/.test(each) && !variables?.given.has(each));
      if (name === undefined) return undefined;
      return {
        code: 'variable-missing',
        message: `It seems to need the variable ${name}, which it does not get`,
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
      message: 'It lacks a permission',
      advice: 'Its stderr says which; it runs as your user',
    }),
  },
];

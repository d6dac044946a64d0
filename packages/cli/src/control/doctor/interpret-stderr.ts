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
  // Some of the patterns take the square of the length of a line, and the program chooses it.
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

/** The line that a sentence about an ended process quotes; it may be older than the last ones that are kept. */
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
      // Node prints the properties of the error below.
      const property = /^[ \t]*port: (\d{2,5})\b/m.exec(lines.join('\n'))?.[1];
      const port = match[1] ?? /:(\d{2,5})\b/.exec(match.input)?.[1] ?? property;
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
      /not set|unset|missing|requir|undefined|must be|not (?:defined|provided|found)|empty|\bneeds?\b|\bset\b|\bprovide\b|KeyError/i,
    read({ input }, { variables }) {
      const names: readonly string[] = input.match(/\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b/g) ?? [];
      // Codes of the system look alike, and what it has it does not miss.
      const name = names.find((each) => !/^ERR_/.test(each) && !variables?.given.has(each));
      if (name === undefined) return undefined;
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

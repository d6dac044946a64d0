import type { Oddity } from '../../probe/oddities.js';

/** What the doctor found out about one server. */
export interface Diagnosis {
  readonly name: string;
  /** Where it is defined, or which gateway runs it. */
  readonly where: string;
  /**
   * - `well`: it answers (or nobody needs it, and nothing is known against it).
   * - `ill`: it cannot be used; `problems` says why.
   * - `off`: switched off, and not looked at.
   */
  readonly health: 'well' | 'ill' | 'off';
  /**
   * - `asked the gateway`: it is running there, and no second copy was started.
   * - `tried`: it was started, or connected to, for this.
   * - `not started`: what was found before was enough.
   */
  readonly how: 'asked the gateway' | 'tried' | 'not started';
  readonly era?: string;
  /** How the era is known. */
  readonly because?: string;
  readonly evidence?: readonly string[];
  /** Its name and version, in its own words. */
  readonly server?: string;
  /** What it offers, for example `3 tools, 1 prompt`. */
  readonly offers?: string;
  readonly problems: readonly Problem[];
  /** Worth a second look, but no reason not to use it. */
  readonly odd: readonly Oddity[];
  /** The last lines that it wrote to stderr, where they may help. */
  readonly stderr: readonly string[];
}

/** One thing that is wrong, and what to do about it. */
export interface Problem {
  readonly code: ProblemCode;
  readonly message: string;
  readonly advice: string;
}

export type ProblemCode =
  /** The file says something that cannot be. */
  | 'configuration'
  /** A variable that the file, or the server, needs has no value. */
  | 'variable-missing'
  | 'folder-missing'
  | 'command-not-found'
  | 'not-executable'
  /** A module or a package that the program needs is not installed. */
  | 'module-missing'
  | 'port-in-use'
  | 'permission'
  /** It ends before it can be spoken to. */
  | 'exits'
  /** It runs and does not answer. */
  | 'silent'
  /** It speaks, but not what is asked for. */
  | 'no-common-era'
  | 'unreachable'
  | 'unauthorized'
  /** There is something, and it is no MCP server. */
  | 'wrong-url'
  | 'http-status'
  /** It answers, and then fails at what it declares. */
  | 'list-fails'
  /** The gateway is not what it should be. */
  | 'gateway'
  | 'other';

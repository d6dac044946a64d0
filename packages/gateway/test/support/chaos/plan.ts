import { fileURLToPath } from 'node:url';
import { ISTHMUS } from '../../../../../test/support/child.js';
import type { GatewayServerSpec } from '../../../src/server-definition.js';
import { commandUnit, type UnitMore, urlUnit } from '../server-definitions.js';

/** The servers of a storm; each is of another kind. */
export const SERVERS = ['legacy', 'modern', 'tree', 'fragile', 'demo', 'v1', 'v2', 'remote'] as const;
export type ServerName = (typeof SERVERS)[number];

/** Those that note what they ran. */
export const NOTING: ReadonlySet<ServerName> = new Set(['legacy', 'modern', 'tree', 'fragile']);

/** How a server is configured at the moment. */
export interface Intent {
  isThere: boolean;
  isDisabled: boolean;
  isBroken: boolean;
  isNeeded: boolean;
  /** Another number is another environment, so another process. */
  version: number;
  /** Another number is another unit around the same process. */
  limit: number;
}

/** What the configuration says, for as long as the storm lasts. */
export class Plan {
  readonly intents: Readonly<Record<ServerName, Intent>>;
  readonly #diary: string;
  readonly #remote: string;

  constructor(diary: string, remote: string) {
    this.#diary = diary;
    this.#remote = remote;
    this.intents = Object.fromEntries(SERVERS.map((name) => [name, calm()])) as Record<ServerName, Intent>;
  }

  /** As at the beginning; the processes may be others. */
  calmDown(): void {
    for (const name of SERVERS) Object.assign(this.intents[name], calm(), { version: 0 });
  }

  get names(): ServerName[] {
    return SERVERS.filter((name) => this.intents[name].isThere);
  }

  units(): GatewayServerSpec[] {
    return this.names.map((name) => this.#unit(name, this.intents[name]));
  }

  #unit(name: ServerName, intent: Intent): GatewayServerSpec {
    if (intent.isBroken) return { kind: 'broken', name, reason: `${name} is not valid at the moment` };
    const { isDisabled, isNeeded, version, limit } = intent;
    const offer = { disabled: isDisabled, needed: isNeeded, limits: { maxConcurrent: limit } };
    if (name === 'remote') return urlUnit(name, this.#remote, offer);
    return this.#command(name, {
      ...offer,
      env: { VERSION: String(version) },
      timeoutMs: 20_000,
      drainMs: 1000,
      restart: { attempts: 1000, firstDelayMs: 1, maxDelayMs: 20, jitter: 0.5 },
    });
  }

  #command(name: Exclude<ServerName, 'remote'>, more: UnitMore): GatewayServerSpec {
    const storm = program('storm-server.mjs');
    switch (name) {
      case 'legacy':
      case 'modern':
        return commandUnit(name, [storm, this.#diary, name], more);
      case 'tree': {
        // The process that is started is not the server, and has more children than that.
        const line = `sleep 600 & ${process.execPath} ${storm} ${this.#diary} dual; exit $?`;
        return commandUnit(name, ['-c', line], { ...more, command: '/bin/sh' });
      }
      case 'fragile': {
        // Gives up soon: whoever uses it is refused until somebody starts it again.
        const restart = { attempts: 2, firstDelayMs: 5, maxDelayMs: 20, jitter: 0 };
        return commandUnit(name, [storm, this.#diary, 'dual'], { ...more, restart });
      }
      case 'demo':
        return commandUnit(name, [ISTHMUS, 'demo'], more);
      case 'v1':
      case 'v2':
        return commandUnit(name, [matrixProgram(`${name}-stdio.mjs`)], more);
    }
  }
}

function calm(): Intent {
  return { isThere: true, isDisabled: false, isBroken: false, isNeeded: true, version: 0, limit: 100 };
}

function program(name: string): string {
  return fileURLToPath(new URL(`../../chaos/programs/${name}`, import.meta.url));
}

function matrixProgram(name: string): string {
  return fileURLToPath(new URL(`../../../../../test/bridge-matrix/fixtures/${name}`, import.meta.url));
}

/** What is special about one call. */
export interface CallShape {
  readonly ms: number;
  /** The process ends with it. */
  readonly dies: boolean;
  /** The server asks its client something before it answers. */
  readonly asks: boolean;
}

export interface Asking {
  readonly tool: string;
  readonly args: Record<string, unknown>;
  /** The right answer, which no other call has. */
  readonly answer: string;
}

/** How a server is asked to give back a token. */
export function asking(name: ServerName, token: string, { ms, dies, asks }: CallShape): Asking {
  if (asks) return { tool: 'ask_user', args: { message: token }, answer: `accept ${answerTo(token)}` };
  if (!NOTING.has(name)) return { tool: 'echo', args: { text: token }, answer: token };
  return { tool: 'run', args: { token, ms, die: dies }, answer: token };
}

/** What clients say when they are asked. */
export function answerTo(question: string): string {
  return `yes, ${question}`;
}

export const PLAIN: CallShape = { ms: 0, dies: false, asks: false };

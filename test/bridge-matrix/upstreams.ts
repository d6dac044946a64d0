import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Address, Session } from './clients/session.js';
import { awaitOwnQuestion, withEverything } from './features/everything.js';
import type { Feature, Plays } from './features/feature.js';
import { withV1, withV2 } from './features/fixtures.js';

/** A server that stands behind the bridge, written with an official package. */
export interface UpstreamKind {
  readonly name: string;
  readonly title: string;
  readonly era: 'legacy' | 'modern';
  readonly plays: Plays;
  /** Before the first play of a client. */
  readonly settle?: (session: Session) => Promise<void>;
  /** What the table has to say about a feature that works. */
  readonly remarks?: Partial<Record<Feature, string>>;
  readonly program: string;
  /** A server of its own, that is told by its address; otherwise whoever wants it starts it. */
  readonly isHttp: boolean;
}

export const UPSTREAMS: readonly UpstreamKind[] = [
  fixture('v1-stdio', 'official v1, stdio', 'legacy'),
  fixture('v1-http', 'official v1, HTTP with sessions', 'legacy'),
  fixture('v2-stdio', 'official v2, modern only, stdio', 'modern'),
  fixture('v2-http', 'official v2, modern only, HTTP', 'modern'),
  {
    name: 'everything',
    title: 'server-everything, stdio',
    era: 'legacy',
    plays: withEverything,
    settle: awaitOwnQuestion,
    remarks: {
      cancel: 'Its tool goes on whatever it is told; what can be seen is that the call ends for the client.',
    },
    program: local('../../node_modules/@modelcontextprotocol/server-everything/dist/index.js'),
    isHttp: false,
  },
];

/** An upstream, running if it is one of those that run by themselves. */
export interface Upstream {
  readonly address: Address;
  close(): Promise<void>;
}

export async function startUpstream({ program, isHttp }: UpstreamKind): Promise<Upstream> {
  if (!isHttp) {
    return { address: { command: process.execPath, args: [program] }, close: async () => {} };
  }
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
  living.add(child);
  const gone = once(child, 'exit').finally(() => living.delete(child));
  const line = once(createInterface({ input: child.stdout }), 'line') as Promise<[string]>;
  const [url] = await Promise.race([
    line,
    gone.then(() => Promise.reject(new Error(`${program} ended without telling its address`))),
  ]);
  return {
    address: { url },
    async close() {
      child.kill('SIGKILL');
      await gone;
    },
  };
}

function fixture(name: string, title: string, era: UpstreamKind['era']): UpstreamKind {
  const program = local(`fixtures/${name}.mjs`);
  return {
    name,
    title,
    era,
    plays: era === 'legacy' ? withV1 : withV2,
    program,
    isHttp: name.endsWith('http'),
  };
}

function local(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}

/** The last resort: a test run that is itself ended must not leave servers behind. */
const living = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});

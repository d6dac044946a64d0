import { fileURLToPath } from 'node:url';
import { Child } from '../../../../../test/support/child.js';

/** A server that runs elsewhere: nobody here watches over its process. */
export interface Remote {
  readonly url: string;
  readonly isUp: boolean;
  /** When it last came or went. */
  readonly changedAt: number;
  kill(): Promise<void>;
  /** At the same address as before. */
  revive(): Promise<void>;
}

export async function startRemote(): Promise<Remote> {
  let child: Child | undefined;
  let url = '';
  let changedAt = 0;
  const start = async () => {
    let line: string | undefined;
    const port = url === '' ? [] : [new URL(url).port];
    const started = new Child(PROGRAM, { args: port, onLine: (text) => (line ??= text) });
    child = started;
    await started.until('address', () => line !== undefined);
    url = line!;
    changedAt = Date.now();
  };
  await start();
  return {
    url,
    get isUp() {
      return child !== undefined;
    },
    get changedAt() {
      return changedAt;
    },
    async kill() {
      await child?.reap();
      child = undefined;
      changedAt = Date.now();
    },
    async revive() {
      if (!child) await start();
    },
  };
}

/** The official v1 SDK over HTTP, with sessions. */
const PROGRAM = fileURLToPath(
  new URL('../../../../../test/bridge-load/programs/legacy-http.mjs', import.meta.url),
);

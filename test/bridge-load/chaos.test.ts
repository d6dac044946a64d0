/** The process behind a bridge is killed again and again while 12 clients call it; it keeps a true account. */
import { expect, it } from 'vitest';
import { fixture } from '../support/child.js';
import type { Message } from '../support/messages.js';
import { call, type Era, type Near } from './near/near.js';
import { diary, keepFar } from './support/far.js';
import { stage, WAYS } from './support/stage.js';

const CLIENTS = 12;
const CALLS = 24;
const KILLS = 5;

it.each<Era>(['legacy', 'modern'])(
  'while a %s process is killed 5 times, 288 calls each end once, with their own answer or a true error',
  async (era) => {
    const account = diary();
    const args = [fixture('server-notes-its-calls.mjs'), account.path, era];
    const { host, seen } = keepFar(era, { args });
    const { enter } = await stage(host.upstream('far'));
    const clients = await Promise.all(
      Array.from({ length: CLIENTS }, (_, at) => enter(WAYS[at % 4]!, `client ${at}`)),
    );
    const ended: { readonly token: string; readonly message: Message }[] = [];
    const killed: number[] = [];
    const killInTime = () => {
      const { pid } = seen.all('ready').at(-1)!;
      // Each process has answered something, and there is more to come.
      if (ended.length < ((killed.length + 1) * CLIENTS * CALLS) / (KILLS + 2)) return;
      if (killed.length === KILLS || killed.includes(pid!)) return;
      killed.push(pid!);
      process.kill(pid!, 'SIGKILL');
    };
    const callAll = async (near: Near) => {
      // Three at a time.
      await Promise.all(
        [0, 1, 2].map(async (first) => {
          for (let id = first; id < CALLS; id += 3) {
            const token = `${near.name}, ${id}`;
            ended.push({ token, message: await call(near, id, 'run', { token }) });
            killInTime();
          }
        }),
      );
    };
    await Promise.all(clients.map(callAll));

    expect(ended).toHaveLength(CLIENTS * CALLS);
    expect(killed).toHaveLength(KILLS);
    expect(clients.flatMap(({ strays }) => strays)).toEqual([]);
    const lines = account.lines();
    const runs = (token: string) => lines.filter((line) => line === token).length;
    const wrong = ended.filter(({ token, message }) => !isTrue(token, message, runs(token)));
    expect(wrong).toEqual([]);
    expect(ended.some(({ message }) => message.error)).toBe(true);
    expect(ended.filter(({ message }) => message.result).length).toBeGreaterThan(CALLS);
  },
);

function isTrue(token: string, { result, error }: Message, runs: number): boolean {
  if (result) return result.content[0].text === token && runs === 1;
  const { reason, sent } = error!.data as { reason: string; sent: string };
  if (error!.code !== -32603 || reason !== 'CHILD_EXITED') return false;
  return sent === 'maybe' ? runs <= 1 : sent === 'no' && runs === 0;
}

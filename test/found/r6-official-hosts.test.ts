import type { ChildProcess } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { useDaemonHome } from '../../packages/gateway/test/support/daemon-home.js';
import { fixture, ISTHMUS } from '../support/child.js';
import { connectV1 } from '../support/official-v1.js';
import { connectV2 } from '../support/official-v2.js';
import { eventually } from '../support/until.js';
import { notesFile, staying } from './support-ends.js';

/** Generation 2 starts a second process to probe, which is told to end, too. */
const TOLD = ['call', 'cancelled', 'end', 'SIGTERM'];

/** What both generations of the official client have. */
interface OfficialHost {
  listTools(): Promise<unknown>;
  callTool(params: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}

async function v1(args: string[], env: Record<string, string>): Promise<[OfficialHost, ChildProcess]> {
  const { client, transport } = await connectV1({ command: process.execPath, args }, { env });
  return [client, processOf(transport)];
}

async function v2(args: string[], env: Record<string, string>): Promise<[OfficialHost, ChildProcess]> {
  const { client, transport } = await connectV2({ command: process.execPath, args }, { env, mode: 'auto' });
  return [client, processOf(transport)];
}

/** Neither generation says how its server ended. */
function processOf(transport: object): ChildProcess {
  return (transport as { _process: ChildProcess })._process;
}

describe.each([
  ['1.x', v1],
  ['2.x', v2],
])('R6: the official host of generation %s', (_, connect) => {
  const home = useDaemonHome();

  it('R6: never gets as far as SIGKILL when it closes a busy server (end of input, 2 s, SIGTERM, 2 s)', async () => {
    const notes = [notesFile(), notesFile()] as const;
    const word = ['--cwd', home.work, '--'];
    const programs: [string[], string, Record<string, unknown>, () => string[]][] = [
      [[ISTHMUS, 'demo'], 'sleep', { ms: 60_000 }, () => ['call']],
      [[fixture('server-with-busy-handlers.mjs')], 'ignores', {}, () => ['call']],
      [
        [ISTHMUS, 'serve', '-q', '--listen', 'stdio', '--', ...staying(notes[0].file)],
        'wait',
        {},
        notes[0].read,
      ],
      [[ISTHMUS, 'attach', ...word, ...staying(notes[1].file)], 'wait', {}, notes[1].read],
    ];
    const ended = await Promise.all(
      programs.map(async ([args, name, given, read]) => {
        const [host, child] = await connect(args, {
          ...(process.env as Record<string, string>),
          ...home.env,
        });
        // A modern client does not wait for its server to start; the signal is for one that has.
        await host.listTools();
        host.callTool({ name, arguments: given }).catch(() => {});
        await eventually(() => expect(read()).toContain('call'));
        await host.close();
        return child.signalCode;
      }),
    );
    // SIGTERM has a handler in all of them, so a signal would be SIGKILL.
    expect(ended).toEqual([null, null, null, null]);
    await eventually(() => expect(notes[0].read()).toEqual(expect.arrayContaining(TOLD)));
    await eventually(() => expect(notes[1].read()).toEqual(expect.arrayContaining(TOLD.slice(0, 2))));
  });
});

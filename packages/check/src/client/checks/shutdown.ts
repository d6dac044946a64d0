import { LEAVES_MS } from '../scenarios/streams.js';
import type { View } from '../view.js';
import { type ClientCheck, every, fail, outcome, pass, skip } from './check.js';

/** How the client ends its servers and itself. */
export const SHUTDOWN: readonly ClientCheck[] = [
  {
    id: 'shutdown/closes-input',
    suite: 'shutdown',
    title: 'Ends a server by closing its input first',
    level: 'SHOULD',
    rules: ['LIFE-001', 'LIFE-002'],
    hint: 'Close stdin of the server and wait. Send signals only to a server that does not exit.',
    on: 'all',
    over: ['stdio'],
    judge(view) {
      return every(endedBy(view), {
        none: 'the client ended no server',
        problem: ({ eof, signal }) =>
          signal !== undefined && (eof === undefined || signal.at < eof.at)
            ? `The server got ${signal.signal} before the end of its input`
            : undefined,
        expected: 'The input is closed before any signal',
        seen: (count) => `The input of ${count} server${count === 1 ? '' : 's'} was closed first`,
      });
    },
  },
  {
    id: 'shutdown/waits',
    suite: 'shutdown',
    title: 'Gives a server time to exit',
    level: 'SHOULD',
    rules: ['LIFE-001', 'LIFE-002'],
    hint: 'Wait a second or two between closing the input and SIGTERM.',
    on: ['slow-exit'],
    judge: (view) =>
      every(endedBy(view), {
        none: 'the client ended no server',
        // When a client closes the input and sends a signal at once, the server may see either first.
        problem: ({ signal, eof }) =>
          signal === undefined || (eof !== undefined && signal.at - eof.at >= LEAVES_MS)
            ? undefined
            : `${signal.signal} came ${whenOf(signal, eof)}`,
        expected: `At least ${LEAVES_MS} ms to exit after the end of the input`,
        seen: () => 'The server exited by itself',
      }),
  },
  {
    id: 'shutdown/stays-for-it',
    suite: 'shutdown',
    title: 'Waits for its server to exit before it exits',
    level: 'SHOULD',
    rules: ['LIFE-001'],
    hint: 'Await the exit of the process in close().',
    on: ['slow-exit'],
    judge(view) {
      const lives = livesOf(view).filter(({ eof }) => eof !== undefined);
      const { at } = view.transcript.end;
      return every(lives, {
        none: 'the client ended no server',
        problem: ({ exit, life }) =>
          life > 0 && (exit === undefined || exit.at > at + SOON_MS)
            ? 'The client exited before its server'
            : undefined,
        expected: 'The server exits first',
        seen: () => 'The server exited first',
      });
    },
  },
  {
    id: 'shutdown/nothing-left',
    suite: 'shutdown',
    title: 'Leaves no server running, not even one that ignores SIGTERM',
    level: 'SHOULD',
    rules: ['LIFE-001', 'LIFE-002'],
    hint: 'Send SIGTERM after a bounded wait, and SIGKILL after another (taskkill /F on Windows).',
    on: 'all',
    over: ['stdio'],
    judge(view) {
      if (livesOf(view).length === 0) return skip('the client started no server');
      const { left, late } = view.transcript.end;
      if (late) return skip('the client did not end by itself');
      return left === 0
        ? pass('All servers had exited')
        : fail(
            `${left} server process${left === 1 ? ' was' : 'es were'} still running after the client had exited`,
            'None',
          );
    },
  },
  {
    id: 'shutdown/ends',
    suite: 'shutdown',
    title: 'Exits by itself when it is done, also with a server that ignores SIGTERM',
    level: 'SHOULD',
    rules: [],
    reason: 'A program that hangs is killed, and its servers keep running.',
    hint: 'Give every step of closing a time limit.',
    on: ['stubborn', 'slow-exit'],
    judge(view) {
      if (view.said.length === 0) return skip('the client sent nothing');
      return view.ended
        ? pass(`It ended after ${view.transcript.end.ms} ms`)
        : fail(`The client ${outcome(view)}`, 'An end', view.said.at(-1));
    },
  },
  {
    id: 'shutdown/one-at-a-time',
    suite: 'shutdown',
    title: 'Never runs two copies of a server at once',
    level: 'SHOULD',
    rules: [],
    reason: 'A server that owns a port, a file or a browser fails when a second copy is started to probe it.',
    hint: 'Probe the process that will serve. Start another only when the first has exited.',
    on: 'all',
    over: ['stdio'],
    judge(view) {
      const lives = livesOf(view);
      if (lives.length === 0) return skip('the client started no server');
      const overlap = lives.find(({ started }) => started.beside > 0);
      return overlap
        ? fail('A second server was started while the first was running', 'One at a time', overlap)
        : pass(`${lives.length} server${lives.length === 1 ? '' : 's'}, one at a time`);
    },
  },
];

const SOON_MS = 150;

function endedBy(view: View): Life[] {
  return livesOf(view).filter(({ signal, eof }) => signal !== undefined || eof !== undefined);
}

function whenOf(signal: Kind<'signal'>, eof: Kind<'eof'> | undefined): string {
  if (eof === undefined || signal.at < eof.at) return 'before the end of the input';
  return `${signal.at - eof.at} ms after the end of the input, to a server that was exiting`;
}

type Kind<K extends string> = Extract<View['transcript']['entries'][number], { kind: K }>;

interface Life {
  readonly life: number;
  readonly index: number;
  readonly started: Kind<'started'>;
  readonly eof: Kind<'eof'> | undefined;
  readonly signal: Kind<'signal'> | undefined;
  readonly exit: Kind<'exit'> | undefined;
}

function livesOf({ transcript: { entries, end } }: View): Life[] {
  return entries.flatMap((started, index): Life[] => {
    if (started.kind !== 'started') return [];
    const of = entries.filter(({ life }) => life === started.life);
    // A signal after the end of the client comes from the system, or from this program.
    const find = <K extends string>(kind: K) => of.find((entry): entry is Kind<K> => entry.kind === kind);
    const signal = find('signal');
    return [
      {
        life: started.life,
        index,
        started,
        eof: find('eof'),
        signal: signal && signal.at <= end.at ? signal : undefined,
        exit: find('exit'),
      },
    ];
  });
}

import { LEAVES_MS } from '../scenarios/streams.js';
import type { View } from '../view.js';
import { type ClientCheck, every, fail, outcome, pass, skip } from './check.js';

/** How the client leaves. */
export const SHUTDOWN: readonly ClientCheck[] = [
  {
    id: 'shutdown/closes-input',
    suite: 'shutdown',
    title: 'Ends a server by closing its input first',
    level: 'SHOULD',
    rules: ['LIFE-001', 'LIFE-002'],
    hint: 'Close stdin of the server and wait; signals are for those that do not leave.',
    on: 'all',
    over: ['stdio'],
    judge(view) {
      return every(endedBy(view), {
        none: 'no server was ended by the client',
        problem: ({ eof, signal }) =>
          signal !== undefined && (eof === undefined || signal.at < eof.at)
            ? `The server got ${signal.signal} before the end of its input`
            : undefined,
        expected: 'The end of its input first',
        seen: (count) => `${count} server${count === 1 ? '' : 's'} saw the end of their input first`,
      });
    },
  },
  {
    id: 'shutdown/waits',
    suite: 'shutdown',
    title: 'Gives a server time to leave',
    level: 'SHOULD',
    rules: ['LIFE-001', 'LIFE-002'],
    hint: 'Wait a second or two between closing the input and SIGTERM.',
    on: ['slow-exit'],
    judge: (view) =>
      every(endedBy(view), {
        none: 'no server was ended by the client',
        // Which of a signal and an end of the input that were sent together is seen first, is chance.
        problem: ({ signal, eof }) =>
          signal === undefined || (eof !== undefined && signal.at - eof.at >= LEAVES_MS)
            ? undefined
            : `${signal.signal} came ${whenOf(signal, eof)}`,
        expected: `${LEAVES_MS} ms to leave after the end of the input`,
        seen: () => 'It was left to leave by itself',
      }),
  },
  {
    id: 'shutdown/stays-for-it',
    suite: 'shutdown',
    title: 'Waits for its server to be gone before it goes itself',
    level: 'SHOULD',
    rules: ['LIFE-001'],
    hint: 'Await the exit of the process in close().',
    on: ['slow-exit'],
    judge(view) {
      const lives = livesOf(view).filter(({ eof }) => eof !== undefined);
      const { at } = view.transcript.end;
      return every(lives, {
        none: 'no server was ended by the client',
        problem: ({ exit, life }) =>
          life > 0 && (exit === undefined || exit.at > at + SOON_MS)
            ? 'The client was gone while its server was still leaving'
            : undefined,
        expected: 'The server is gone first',
        seen: () => 'The server was gone first',
      });
    },
  },
  {
    id: 'shutdown/nothing-left',
    suite: 'shutdown',
    title: 'Leaves no server behind, not even one that does not want to go',
    level: 'SHOULD',
    rules: ['LIFE-001', 'LIFE-002'],
    hint: 'After a bounded wait SIGTERM, after another SIGKILL (taskkill /F on Windows).',
    on: 'all',
    over: ['stdio'],
    judge(view) {
      if (livesOf(view).length === 0) return skip('the client started no server');
      const { left, late } = view.transcript.end;
      if (late) return skip('the client had to be ended itself');
      return left === 0
        ? pass('All were gone')
        : fail(
            `${left} server process${left === 1 ? ' was' : 'es were'} left when the client had gone`,
            'None',
          );
    },
  },
  {
    id: 'shutdown/ends',
    suite: 'shutdown',
    title: 'Ends by itself when it is done, also with a server that does not want to go',
    level: 'SHOULD',
    rules: [],
    reason: 'A program that cannot leave is killed, and then leaves its servers behind.',
    hint: 'Bound every step of closing.',
    on: ['stubborn', 'slow-exit'],
    judge(view) {
      if (view.said.length === 0) return skip('the client said nothing');
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
    reason:
      'Servers that own something (a port, a file, a browser) fail when a sibling is started to be probed.',
    hint: 'Probe on the process that will serve; start another only when the first has gone.',
    on: 'all',
    over: ['stdio'],
    judge(view) {
      const lives = livesOf(view);
      if (lives.length === 0) return skip('the client started no server');
      const overlap = lives.find(({ started }) => started.beside > 0);
      return overlap
        ? fail('A second server was started while the first was there', 'One at a time', overlap)
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
  return `${signal.at - eof.at} ms after the end of the input, to a server that was leaving`;
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
    // What comes when the client has gone is the system's doing, or ours.
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

import { within } from '@isthmus/sdk/internal/async/clock.js';
import { askAlive } from '../../conversation/conversation.js';
import { helloMessage } from '../../conversation/envelope.js';
import type { Check } from '../../model.js';
import type { CheckContext } from '../../run/check-context.js';
import { openStreamPeer, type StreamPeer } from '../../wire/stream-peer.js';
import { peerOfProcess } from './endings.js';

const common = {
  suite: 'lifetime',
  level: 'SHOULD',
  rules: [],
  era: 'none',
  over: ['command'],
  lane: 'own',
} as const satisfies Partial<Check>;

/** Start of a process: once, twice at a time, and after a kill. */
export const startChecks: readonly Check[] = [
  {
    ...common,
    id: 'lifetime/starts',
    title: 'Starts, and answers the first request within seconds',
    reason: 'Hosts start their servers when they start, and give up on slow ones.',
    hint: 'Answer first and load later, for example at the first call of a tool.',
    async run(context) {
      const began = context.clock.now();
      const { answered, why } = await startAnother(context);
      const took = context.clock.now() - began;
      const limit = 2 * context.patience.answerMs;
      if (!answered) context.fail(`its first request was not answered${why}`, 'an answer');
      if (took > limit)
        context.fail(`the first answer came after ${took} ms`, `an answer within ${limit} ms`);
      return `the first answer came after ${took} ms`;
    },
  },
  {
    ...common,
    id: 'lifetime/stays',
    title: 'Keeps running while its input is open',
    reason: 'A host treats a server that exits on its own as crashed.',
    hint: 'Keep the process alive until its input ends. In Node, keep reading stdin.',
    async run(context) {
      const conversation = await context.openConversation();
      const { process } = peerOfProcess(context, conversation);
      const ms = 3 * context.patience.quietMs;
      const ended = await within(context.clock, ms, process!.exited);
      if (ended) {
        const { code, signal } = await process!.exited;
        context.fail(
          `it exited with ${signal ?? `code ${code}`} while its input was open`,
          'it keeps running',
        );
      }
      const reply = await askAlive(conversation);
      if (reply.kind === 'silence')
        context.fail(`after ${ms} ms without a request: ${reply.why}`, 'an answer');
      return `it was still running after ${ms} ms without a request`;
    },
  },
  {
    ...common,
    id: 'lifetime/two-at-once',
    title: 'Runs twice at the same time',
    reason: 'Each host, and often each of its windows, starts its own process.',
    hint: 'Do not hold a lock, a fixed port or a file that the second process needs.',
    async run(context) {
      const started = await Promise.all([startAnother(context), startAnother(context)]);
      const failed = started.find(({ answered }) => !answered);
      if (failed) context.fail(`of two processes at once, one did not answer${failed.why}`, 'both answer');
      return 'two processes answered at the same time';
    },
  },
  {
    ...common,
    id: 'lifetime/starts-after-kill',
    title: 'Starts again after it was killed',
    reason: 'Processes are killed when memory is short or the machine goes down, and cannot clean up first.',
    hint: 'Do not trust an old lock or pid file: check whether its owner is still running.',
    async run(context) {
      const first = await startAnother(context);
      const pid = first.peer.process?.pid;
      if (!first.answered || pid === undefined) return context.skip('the first process did not start');
      process.kill(pid, 'SIGKILL');
      await within(context.clock, context.patience.answerMs, first.peer.process!.exited);
      const next = await startAnother(context);
      if (!next.answered)
        context.fail(`after a SIGKILL the next process did not answer${next.why}`, 'it starts as usual');
      return 'the next process answered';
    },
  },
];

/** Starts a new process and sends the first request. `why` explains a missing answer. */
async function startAnother(
  context: CheckContext,
): Promise<{ readonly peer: StreamPeer; readonly answered: boolean; readonly why: string }> {
  if (context.target.transport === 'http') return context.skip('the target is at a URL');
  const peer = await openStreamPeer(context.target, context.clock);
  context.atEnd(() => peer.close());
  peer.send(helloMessage(context.era, context.revision));
  const frame = await peer.transcript.waitFor(({ kind }) => kind === 'result', context.patience.helloMs);
  // The last stderr lines may still be in the pipe.
  if (!frame && peer.process) await within(context.clock, context.patience.quietMs, peer.process.exited);
  const said = peer.process?.stderr().trim().split('\n').at(-1);
  return { peer, answered: frame !== undefined, why: said ? `; last stderr: ${said}` : '' };
}

import { within } from '@isthmus/sdk/internal/async/clock.js';
import { askAlive } from '../../conversation/conversation.js';
import type { Check } from '../../model.js';
import type { CheckContext } from '../../run/check-context.js';
import { notAMessage } from '../../run/failure-cause.js';
import { slowArguments } from '../../survey/callable-tools.js';
import type { StreamPeer } from '../../wire/stream-peer.js';
import { collectAnswers, describeEnd, harmless, peerOf } from './bad-input.js';

const common = {
  suite: 'resilience',
  level: 'SHOULD',
  rules: [],
  era: 'none',
  lane: 'own',
  over: ['command', 'socket'],
} as const satisfies Partial<Check>;

/** The end of input: of a pipe, or of one direction of a socket. */
export const endOfInputChecks: readonly Check[] = [
  {
    ...common,
    id: 'end-of-input/answers-first',
    title: 'Answers requests that came before the end of input',
    reason:
      'Scripts write their requests, close the pipe and then read the answers. The same is true of half-closed sockets.',
    hint: 'At the end of input, wait for running calls and for the output, and then exit.',
    async run(context) {
      const conversation = await context.openConversation();
      const peer = peerOf(context, conversation);
      const ids = Array.from({ length: 20 }, (_, index) => `last-${index}`);
      await peer.sendBytes(ids.map((id) => `${JSON.stringify(harmless(conversation, id))}\n`).join(''));
      peer.endInput();
      const { missing } = await collectAnswers(context, peer, ids);
      if (missing.length === 0) return 'all of 20 requests before the end of input were answered';
      return context.fail(
        `${missing.length} of 20 requests before the end of input were not answered${describeEnd(peer)}`,
        'all answers, then the end',
      );
    },
  },
  {
    ...common,
    id: 'end-of-input/answers-calls',
    title: 'Answers a call that is running when the input ends',
    rules: ['LIFE-003'],
    reason: 'A script that pipes its requests would never see the answer of a server that exits too early.',
    era: 'each',
    hint: 'At the end of input, give calls a moment to finish, or answer them with an error, and then exit.',
    async run(context) {
      const call = context.needTool(
        ({ tool }) => slowArguments(tool, UNDER_WAY_MS) !== undefined,
        'with an adjustable duration',
      );
      const conversation = await context.openConversation();
      const peer = peerOf(context, conversation);
      const pending = conversation.start('tools/call', {
        name: call.name,
        arguments: slowArguments(call.tool, UNDER_WAY_MS)!,
      });
      // The answer shows that the server has read the call.
      await askAlive(conversation);
      peer.endInput();
      const reply = await pending.reply;
      if (reply.kind !== 'silence') return `a call of ${call.name} was answered after the end of input`;
      return context.fail(
        `a call of ${call.name} that was under way when the input ended was not answered: ${reply.why}${describeEnd(peer)}`,
        'its result, or an error',
      );
    },
  },
  {
    ...common,
    id: 'end-of-input/half-line',
    title: 'Survives the end of input in the middle of a line',
    reason: 'A client that crashes leaves half a line. The server must not crash or write garbage.',
    hint: 'Drop an incomplete last line, and exit as usual.',
    run: (context) => endsWell(context, (text) => text.slice(0, 25)),
  },
  {
    ...common,
    id: 'end-of-input/no-newline',
    title: 'Survives a last line without a newline',
    reason: 'Some clients leave out the last newline. The server may serve or drop that line.',
    hint: 'Treat the rest of the input as a last line, or drop it, and exit as usual.',
    run: (context) => endsWell(context, (text) => text),
  },
  {
    ...common,
    id: 'end-of-input/connection-ends',
    title: 'Closes its side of a connection after the client has closed its own',
    reason: 'Half-closed connections accumulate until the server accepts no more.',
    over: ['socket'],
    hint: 'When the input has ended and all requests are answered, end the output.',
    async run(context) {
      const peer = peerOf(context, await context.openConversation());
      peer.endInput();
      if (await within(context.clock, context.patience.answerMs, peer.ended)) return 'it also ended its side';
      return context.fail(
        `its side was still open ${context.patience.answerMs} ms after the end of input`,
        'the connection ends',
      );
    },
  },
  {
    ...common,
    id: 'end-of-input/next-connection',
    title: 'Serves the next client after one has disconnected in the middle of a line',
    reason: 'Clients can crash at any moment, and the server must serve the others.',
    over: ['socket'],
    hint: 'Handle the errors of each connection separately, including ECONNRESET and EPIPE.',
    async run(context) {
      const rude = await context.openConversation();
      const peer = peerOf(context, rude);
      await peer.sendBytes(`${JSON.stringify(harmless(rude, 'lost'))}\n{"jsonrpc":"2.0","id":1,"meth`);
      peer.vanish();
      const next = await context.openConversation().catch(() => undefined);
      const reply = next && (await askAlive(next));
      if (!reply || reply.kind === 'silence') context.fail('the next connection was not served', 'an answer');
      return 'the next connection was served';
    },
  },
];

/** Short enough to finish: hosts wait two seconds after they have closed the input. */
const UNDER_WAY_MS = 250;

/** Sends two requests, a line without a newline, and the end of input. */
async function endsWell(context: CheckContext, cut: (text: string) => string): Promise<string> {
  const conversation = await context.openConversation();
  const peer = peerOf(context, conversation);
  const ids = ['whole-1', 'whole-2'];
  const whole = ids.map((id) => `${JSON.stringify(harmless(conversation, id))}\n`).join('');
  await peer.sendBytes(whole + cut(JSON.stringify(harmless(conversation, 'unfinished'))));
  peer.endInput();
  const { missing } = await collectAnswers(context, peer, ids);
  if (missing.length > 0) {
    context.fail(
      `${missing.length} of 2 requests before it were not answered${describeEnd(peer)}`,
      'answers to the complete requests',
    );
  }
  await within(context.clock, context.patience.answerMs, peer.ended);
  const nonsense = peer.transcript.frames.find(({ from, json }) => from === 'server' && json === undefined);
  if (nonsense)
    context.fail(`it wrote ${nonsense.text.slice(0, 160)}`, 'only messages', notAMessage(nonsense));
  const crash = await crashOf(context, peer);
  if (crash !== undefined) context.fail(`the process ended with ${crash}${describeEnd(peer)}`, 'exit code 0');
  const isAnswered = peer.transcript.frames.some(({ from, id }) => from === 'server' && id === 'unfinished');
  return `complete requests were answered, and the rest was ${isAnswered ? 'answered, too' : 'dropped'}`;
}

/** How a process crashed. Undefined for exit code 0, and for a process that still runs. */
async function crashOf(context: CheckContext, { process }: StreamPeer): Promise<string | undefined> {
  if (!process || !(await within(context.clock, Math.min(2000, context.patience.answerMs), process.exited)))
    return undefined;
  const { code, signal } = await process.exited;
  return code === 0 ? undefined : (signal ?? `code ${code}`);
}

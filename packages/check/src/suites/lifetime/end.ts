import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { askAlive } from '../../conversation/conversation.js';
import type { Check } from '../../model.js';
import type { CheckContext } from '../../run/check-context.js';
import { notAMessage } from '../../run/failure-cause.js';
import { slowArguments } from '../../survey/callable-tools.js';
import type { Facts } from '../../survey/facts.js';
import { requestOf, requestWithLongAnswer } from '../resilience/bad-input.js';
import { complaintOf } from '../resilience/purity.js';
import { type EndingCheck, endedHow, peerOfProcess, sharedEnding, watchEnd } from './endings.js';

const common = {
  suite: 'lifetime',
  level: 'SHOULD',
  era: 'none',
  over: ['command'],
  lane: 'own',
} as const satisfies Partial<Check>;

const NO_HOST = 'The host is gone. A process that stays uses memory and locks until a user finds it.';

const atEndOfInput = sharedEnding(async (context) => {
  const conversation = await context.openConversation();
  const peer = peerOfProcess(context, conversation);
  // By then, requests of the server, such as roots/list, are answered.
  await askAlive(conversation);
  await context.pause(context.patience.quietMs);
  return watchEnd(context, peer, () => peer.endInput());
});

const atSigterm = sharedEnding(async (context) => {
  const peer = peerOfProcess(context, await context.openConversation());
  return watchEnd(context, peer, (pid) => process.kill(pid, 'SIGTERM'));
});

/** Exit of a process: end of input, signals, and a crash of the host. */
export const endChecks: readonly Check[] = [
  {
    ...common,
    id: 'lifetime/ends-with-input',
    title: 'Exits soon after its input has ended',
    rules: ['LIFE-003'],
    hint: 'Exit when stdin ends. In Node: process.stdin.on("end", …), and close what keeps the event loop busy.',
    async run(context) {
      return mustEnd(context, await atEndOfInput(context), 'after the end of input');
    },
  },
  {
    ...common,
    id: 'lifetime/exit-code',
    title: 'Exits with code 0 when its input has ended',
    rules: [],
    reason: 'The end of input is the normal end, and hosts report any other code as a crash.',
    hint: 'Call process.exit(0) when stdin has ended, or let the event loop end.',
    async run(context) {
      const ending = await atEndOfInput(context);
      if (ending.afterMs === undefined) return context.skip('it does not exit when its input ends');
      if (ending.code !== 0) {
        const said = ending.stderr === '' ? '' : `; last stderr: ${ending.stderr}`;
        context.fail(`after the end of input ${endedHow(ending)}${said}`, 'code 0', { wire: ending.wire });
      }
      return endedHow(ending);
    },
  },
  {
    ...common,
    id: 'lifetime/stdout-is-pure',
    title: 'Writes only messages to stdout from start to exit',
    level: 'MUST',
    rules: ['STDIO-004'],
    hint: 'Print banners and exit messages to stderr.',
    async run(context) {
      const { frames, wire } = await atEndOfInput(context);
      for (const frame of frames) {
        const complaint = complaintOf(frame, context.revision);
        if (complaint !== undefined)
          context.fail(`it wrote ${frame.text.slice(0, 200)} (${complaint})`, 'only messages', {
            wire,
            ...notAMessage(frame),
          });
      }
      return `all of ${frames.length} lines are messages`;
    },
  },
  {
    ...common,
    id: 'lifetime/leaves-nobody',
    title: 'Leaves no child processes when its input has ended',
    rules: [],
    reason: NO_HOST,
    hint: 'End your child processes before you exit, or start them so that their input ends, too.',
    run: async (context) => mustBeAlone(context, await atEndOfInput(context), 'its input ends'),
  },
  {
    ...common,
    id: 'lifetime/ends-unused',
    title: 'Exits when its input ends before the first request',
    rules: ['LIFE-003'],
    hint: 'Watch for the end of stdin from the start, not only after the handshake.',
    async run(context) {
      const peer = await context.openStream();
      const ending = await watchEnd(context, peer, () => peer.endInput(), 2 * context.patience.answerMs);
      return mustEnd(context, ending, 'after the end of an unused input');
    },
  },
  {
    ...common,
    id: 'lifetime/ends-with-subscription',
    title: 'Exits when its input ends while a subscription is open',
    rules: ['LIFE-003'],
    era: 'modern',
    hint: 'End open subscriptions when stdin ends; a subscription must not keep the process alive.',
    async run(context) {
      const conversation = await context.openConversation();
      const peer = peerOfProcess(context, conversation);
      const listen = conversation.start('subscriptions/listen', {
        notifications: { toolsListChanged: true },
      });
      const isAck = await listen.waitFor(({ method }) => method === ACKNOWLEDGED);
      if (!isAck) return context.skip('it does not acknowledge subscriptions/listen');
      return mustEnd(
        context,
        await watchEnd(context, peer, () => peer.endInput()),
        'after the end of input, with a subscription',
      );
    },
  },
  {
    ...common,
    id: 'lifetime/ends-with-call',
    title: 'Exits when its input ends while a call is running',
    rules: ['LIFE-003'],
    era: 'each',
    hint: 'When stdin ends, cancel running calls, or let them finish within a few seconds.',
    async run(context) {
      const params = slowCall(context.facts);
      if (!params) return context.skip('no tool that may be called is slow, or asks a question');
      const conversation = await context.openConversation();
      const peer = peerOfProcess(context, conversation);
      conversation.answerWith(() => new Promise(() => {}));
      const call = conversation.start('tools/call', params);
      await Promise.race([call.reply, context.pause(SLOW_MS)]);
      const ms = CALL_MS + context.patience.answerMs;
      const ending = await watchEnd(context, peer, () => peer.endInput(), ms);
      return mustEnd(context, ending, `after the end of input, while ${String(params['name'])} ran`);
    },
  },
  {
    ...common,
    id: 'lifetime/sigterm',
    title: 'Exits on SIGTERM',
    rules: [],
    reason: 'A host sends SIGTERM to a server that does not exit, and then SIGKILL, which allows no cleanup.',
    hint: 'Do not handle SIGTERM, or exit soon in its handler.',
    async run(context) {
      if (process.platform === 'win32') return context.skip('Windows has no SIGTERM');
      return mustEnd(context, await atSigterm(context), 'after SIGTERM');
    },
  },
  {
    ...common,
    id: 'lifetime/sigterm-leaves-nobody',
    title: 'Leaves no child processes after SIGTERM',
    rules: [],
    reason: NO_HOST,
    hint: 'Pass the signal on to your child processes, and wait for them.',
    run: async (context) => mustBeAlone(context, await atSigterm(context), 'it gets SIGTERM'),
  },
  {
    ...common,
    id: 'lifetime/sigint',
    title: 'Exits on SIGINT',
    rules: [],
    reason: 'Ctrl-C in a terminal reaches a host and all its servers, and should end all of them.',
    hint: 'Do not handle SIGINT, or exit soon in its handler.',
    async run(context) {
      if (process.platform === 'win32') return context.skip('Windows has no SIGINT for others');
      const peer = peerOfProcess(context, await context.openConversation());
      const ending = await watchEnd(context, peer, (pid) => process.kill(pid, 'SIGINT'));
      return mustEnd(context, ending, 'after SIGINT');
    },
  },
  {
    ...common,
    id: 'lifetime/host-dies',
    title: 'Exits when its host crashes during calls',
    rules: ['LIFE-003'],
    reason: NO_HOST,
    hint: 'Exit on EPIPE on stdout. Do not retry a write that can never succeed.',
    async run(context) {
      const conversation = await context.openConversation();
      const peer = peerOfProcess(context, conversation);
      const { method, params } = requestWithLongAnswer(context, conversation, 16 * 1024);
      peer.pause();
      const ending = await watchEnd(context, peer, async () => {
        const lines = Array.from({ length: 50 }, (_, index) =>
          requestOf(conversation, `lost-${index}`, method, params),
        );
        await peer.sendBytes(
          lines.map((each) => `${JSON.stringify(each)}\n`).join(''),
          context.patience.quietMs,
        );
        peer.vanish();
      });
      return mustEnd(context, ending, 'after its host crashed');
    },
  },
];

const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';
const SLOW_MS = 300;
/** A server may finish running calls. */
const CALL_MS = 2000;

/** The params of a call that still runs when the input ends. */
function slowCall({ callable, walkthrough }: Facts): JsonObject | undefined {
  for (const { name, tool } of callable) {
    const args = slowArguments(tool, CALL_MS);
    if (args) return { name, arguments: args };
  }
  return walkthrough.find(
    ({ method, reply, questions }) =>
      method === 'tools/call' && (questions.length > 0 || reply.kind === 'silence' || reply.ms > SLOW_MS),
  )?.params;
}

function mustEnd(context: CheckContext, ending: EndingCheck, when: string): string {
  if (ending.afterMs === undefined) {
    context.fail(`${ending.waitedMs} ms ${when} the process was still running`, 'it exits', {
      wire: ending.wire,
    });
  }
  return `${when} ${endedHow(ending)}`;
}

function mustBeAlone(context: CheckContext, { afterMs, orphans, wire }: EndingCheck, when: string): string {
  if (afterMs === undefined) return context.skip(`it does not exit when ${when}`);
  if (!orphans) return context.skip('child processes can be listed only on Linux');
  if (orphans.length > 0) {
    const pids = orphans.map(({ pid }) => pid).join(', ');
    context.fail(
      `when ${when} it leaves ${orphans.length} child processes running (${pids})`,
      'no child process is left',
      {
        wire,
      },
    );
  }
  return 'no child process was left';
}

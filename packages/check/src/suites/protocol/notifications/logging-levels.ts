/** Log levels: which messages are sent. */

import { isLoggingLevel, LOGGING_LEVELS, reaches } from '@isthmus/sdk/internal/era/reports.js';
import type { LoggingLevel } from '@isthmus/sdk/internal/wire/model.js';
import type { CheckConversation, CheckRequestOptions } from '../../../conversation/conversation.js';
import type { Check } from '../../../model.js';
import type { CheckContext } from '../../../run/check-context.js';
import type { WalkthroughStop } from '../../../survey/facts.js';
import { type Frame, paramsOf } from '../../../wire/transcript.js';
import { evidence } from '../answers.js';
import { describe, nameOf } from '../questions/asking.js';
import { isLog } from './logging.js';

export const loggingLevelsChecks: readonly Check[] = [
  {
    id: 'logging/none-without-level',
    suite: 'protocol',
    title: 'Sends no logs for a request without logLevel',
    level: 'MUST',
    rules: ['LOG-002'],
    era: 'modern',
    hint: 'Send notifications/message only for requests with _meta["io.modelcontextprotocol/logLevel"].',
    async run(context) {
      const stops = loggingStops(context).slice(0, 3);
      const conversation = await context.conversation();
      for (const stop of stops) {
        const logs = await logsOf(context, conversation, stop, {});
        if (logs[0])
          context.fail(`${nameOf(stop)} without logLevel was logged`, 'no log message', evidence(logs[0]));
      }
      return `${stops.map(nameOf).join(', ')}: no logs without logLevel`;
    },
  },
  {
    id: 'logging/from-the-level-on',
    suite: 'protocol',
    title: 'Sends only logs of the requested level and above',
    level: 'SHOULD',
    rules: ['LOG-003'],
    reason: 'A client that requests errors does not want all messages.',
    era: 'modern',
    hint: 'Compare the level of each message with logLevel of the request.',
    async run(context) {
      const stops = loggingStops(context).slice(0, 3);
      const conversation = await context.conversation();
      for (const stop of stops) {
        for (const level of ['warning', 'emergency'] as const)
          expectAbove(
            context,
            await logsOf(context, conversation, stop, { logLevel: level }),
            level,
            nameOf(stop),
          );
      }
      return `${stops.map(nameOf).join(', ')}: only logs of the level and above`;
    },
  },
  {
    id: 'logging/before-the-answer',
    suite: 'protocol',
    title: 'Sends the logs of a request only before its answer, and only on its own stream',
    level: 'MUST',
    rules: ['LOG-004'],
    era: 'modern',
    lane: 'own',
    hint: 'Send logs on the response stream of their request, and drop later ones.',
    async run(context) {
      const stop = loggingStops(context)[0]!;
      const conversation = await context.openConversation();
      const [asked, other] = await Promise.all([
        conversation.request(stop.method, stop.params, { logLevel: 'debug' }),
        conversation.request(stop.method, stop.params, {}),
      ]);
      context.needResult(asked, nameOf(stop));
      const alien = other.http?.frames.find(isLog);
      if (alien)
        context.fail(
          'logs came on the stream of a request that did not ask for them',
          'none',
          evidence(alien),
        );
      await context.pause(context.patience.quietMs);
      const heard = asked.http?.frames ?? conversation.transcript.frames;
      const late = heard.slice(heard.indexOf(asked.frame!) + 1).find(isLog);
      if (late)
        context.fail(`a log message came after the answer to ${nameOf(stop)}`, 'none', evidence(late));
      return `${nameOf(stop)}: no logs after the answer`;
    },
  },
  {
    id: 'logging/refuses-unknown-levels',
    suite: 'protocol',
    title: 'Refuses unknown log levels with -32602',
    level: 'SHOULD',
    rules: ['LOG-005', 'LOG-012', 'ERR-017'],
    lane: 'abuse',
    hint: 'Accept only the eight levels, and answer others with -32602.',
    async run(context) {
      context.needCapability('logging');
      const conversation = await context.abuseConversation();
      for (const level of ['loud', 'INFO', '']) {
        const reply =
          conversation.era === 'modern'
            ? await conversation.request('server/discover', {}, { logLevel: level })
            : await conversation.request('logging/setLevel', { level });
        if (reply.kind !== 'error' || reply.error.code !== -32602)
          context.fail(`the level ${JSON.stringify(level)} had ${describe(reply)}`, 'error -32602');
      }
      return 'three unknown levels were refused';
    },
  },
  {
    id: 'logging/knows-all-levels',
    suite: 'protocol',
    title: 'Accepts each of the eight log levels',
    level: 'SHOULD',
    rules: ['LOG-006'],
    reason: 'A client may request any of them.',
    lane: 'abuse',
    hint: 'Accept debug, info, notice, warning, error, critical, alert and emergency.',
    async run(context) {
      context.needCapability('logging');
      const conversation = await context.abuseConversation();
      for (const level of LOGGING_LEVELS) {
        const reply =
          conversation.era === 'modern'
            ? await conversation.request('server/discover', {}, { logLevel: level })
            : await conversation.request('logging/setLevel', { level });
        const result = context.needResult(reply, `the level ${level}`);
        const members = Object.keys(result).filter((key) => key !== '_meta');
        if (conversation.era === 'legacy' && members.length > 0)
          context.fail(`logging/setLevel was answered with ${members.join(', ')}`, '{}');
      }
      return 'eight levels were accepted';
    },
  },
  {
    id: 'logging/from-the-set-level-on',
    suite: 'protocol',
    title: 'Applies logging/setLevel to the session that set it, and sends only logs of that level and above',
    level: 'SHOULD',
    rules: ['LOG-010'],
    reason: 'The level is a minimum for the session that set it.',
    era: 'legacy',
    lane: 'own',
    hint: 'Store the level in the session, and compare each message with it.',
    async run(context) {
      context.needCapability('logging');
      const likely = likelyToLog(context);
      const conversation = await context.openConversation();
      if (context.target.transport === 'http' && conversation.sessionId === undefined)
        context.skip('the server has no sessions that could have a level');
      context.needResult(
        await conversation.request('logging/setLevel', { level: 'debug' }),
        'logging/setLevel',
      );
      const stop =
        (await firstThatLogs(context, conversation, likely)) ??
        context.skip('nothing that may be called logs, even at the level debug');
      context.needResult(
        await conversation.request('logging/setLevel', { level: 'emergency' }),
        'logging/setLevel',
      );
      expectAbove(context, await logsOf(context, conversation, stop, {}), 'emergency', nameOf(stop));
      if (context.target.transport === 'command') return `${nameOf(stop)}: only logs of emergency`;
      const other = await context.openConversation();
      context.needResult(await other.request('logging/setLevel', { level: 'debug' }), 'logging/setLevel');
      expectAbove(
        context,
        await logsOf(context, conversation, stop, {}),
        'emergency',
        `${nameOf(stop)}, while another session has the level debug`,
      );
      await conversation.request('logging/setLevel', { level: 'emergency' });
      if ((await logsOf(context, other, stop, {})).length === 0)
        context.fail(
          'another session set its own level, and this one receives nothing any more',
          'a level for each session',
        );
      return `${nameOf(stop)}: logs of emergency here, and of debug and above in another session`;
    },
  },
];

function loggingStops(context: CheckContext): readonly WalkthroughStop[] {
  const stops = context.facts.walkthrough.filter(({ reply }) => reply.notifications.some(isLog));
  if (stops.length === 0) context.skip('nothing that may be called logs');
  return stops;
}

/** The log messages during a request, and shortly after it. */
async function logsOf(
  context: CheckContext,
  conversation: CheckConversation,
  stop: WalkthroughStop,
  options: CheckRequestOptions,
): Promise<Frame[]> {
  const from = conversation.transcript.frames.length;
  await conversation.request(stop.method, stop.params, options);
  await context.pause(Math.min(50, context.patience.quietMs));
  return conversation.transcript.frames
    .slice(from)
    .filter((frame) => frame.from === 'server' && isLog(frame));
}

/** Requests that logged during the survey, or whose name suggests it. Trying all would take too long. */
function likelyToLog(context: CheckContext): readonly WalkthroughStop[] {
  const { walkthrough } = context.facts;
  const likely = [
    ...walkthrough.filter(({ reply }) => reply.notifications.some(isLog)),
    ...walkthrough.filter(({ params }) => /log/i.test(String(params['name']))),
  ];
  if (likely.length === 0) context.skip('nothing that may be called logs, or has a name like that');
  return likely.slice(0, 5);
}

async function firstThatLogs(
  context: CheckContext,
  conversation: CheckConversation,
  likely: readonly WalkthroughStop[],
): Promise<WalkthroughStop | undefined> {
  for (const stop of likely) {
    if ((await logsOf(context, conversation, stop, {})).length > 0) return stop;
  }
  return undefined;
}

function expectAbove(context: CheckContext, logs: readonly Frame[], level: LoggingLevel, what: string): void {
  const below = logs.find((frame) => {
    const given = paramsOf(frame)['level'];
    return isLoggingLevel(given) && !reaches(given, level);
  });
  if (below)
    context.fail(
      `${what} logged at ${String(paramsOf(below)['level'])}, and ${level} was requested`,
      `${level} and above`,
      evidence(below),
    );
}

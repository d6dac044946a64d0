/** Log messages, in either era. */

import { isLoggingLevel } from '@isthmus/sdk/internal/era/reports.js';
import type { Check } from '../../../model.js';
import type { CheckContext } from '../../../run/check-context.js';
import { hasCapability } from '../../../survey/facts.js';
import { type Frame, paramsOf } from '../../../wire/transcript.js';
import { evidence, saidByServer } from '../answers.js';

export const loggingChecks: readonly Check[] = [
  {
    id: 'logging/announced',
    suite: 'protocol',
    title: 'Announces logging if it sends log messages',
    level: 'MUST',
    rules: ['LOG-001'],
    lane: 'after',
    hint: 'Announce the capability logging, or send no notifications/message.',
    run(context) {
      const logs = heardLogs(context);
      if (!hasCapability(context.facts.capabilities, 'logging'))
        context.fail(
          `${logs.length} log messages came, but logging is not announced`,
          'the capability logging',
          evidence(logs[0]!),
        );
      return `${logs.length} log messages came, and logging is announced`;
    },
  },
  {
    id: 'logging/message-shape',
    suite: 'protocol',
    title: 'Gives each log message one of the eight levels, and data',
    level: 'MUST',
    rules: ['LOG-006'],
    lane: 'after',
    hint: 'Send {level, data} and optionally a string logger. The levels are the names of RFC 5424.',
    run(context) {
      const logs = heardLogs(context);
      for (const frame of logs) {
        const { level, data, logger } = paramsOf(frame);
        if (!isLoggingLevel(level))
          context.fail(
            `a log message has the level ${JSON.stringify(level) ?? 'missing'}`,
            LEVELS,
            evidence(frame),
          );
        if (data === undefined) context.fail('a log message has no data', 'data', evidence(frame));
        if (logger !== undefined && typeof logger !== 'string')
          context.fail(`a log message has the logger ${JSON.stringify(logger)}`, 'a string', evidence(frame));
      }
      return `all of ${logs.length} log messages have a level and data`;
    },
  },
  {
    id: 'logging/not-a-flood',
    suite: 'protocol',
    title: 'Does not flood the client with logs',
    level: 'SHOULD',
    rules: ['LOG-008'],
    lane: 'after',
    hint: 'Limit the rate of log messages for each client.',
    run(context) {
      const logs = heardLogs(context);
      const flood = context.transcripts.some(({ frames }) => {
        const at = frames.filter((frame) => frame.from === 'server' && isLog(frame)).map(({ atMs }) => atMs);
        return at.some((time, index) => (at[index + FLOOD] ?? Number.POSITIVE_INFINITY) - time < 1000);
      });
      if (flood) context.fail(`more than ${FLOOD} log messages came within a second`, 'a few a second');
      return `${logs.length} log messages came, at most ${FLOOD} within a second`;
    },
  },
  {
    id: 'logging/no-credentials',
    suite: 'protocol',
    title: 'Logs no credentials',
    level: 'MUST',
    rules: ['LOG-007'],
    lane: 'after',
    hint: 'Remove or mask keys, tokens and passwords in log messages.',
    run(context) {
      const logs = heardLogs(context);
      const own = context.target.transport === 'http' ? Object.entries(context.target.headers) : [];
      const ours = own
        .filter(([name]) => /^(?:authorization|cookie|x-api-key)$/i.test(name))
        .map(([, value]) => value.replace(/^\w+ /, ''));
      for (const frame of logs) {
        const text = JSON.stringify(paramsOf(frame)['data']) ?? '';
        const kind = ours.some((secret) => secret.length >= 8 && text.includes(secret))
          ? 'the credentials of this run'
          : SECRETS.find(([, pattern]) => pattern.test(text))?.[0];
        // The evidence is left out, since reports are shared.
        if (kind !== undefined)
          context.fail(`a log message contains ${kind}`, 'no credentials in logs', { wire: [] });
      }
      return `none of ${logs.length} log messages seems to contain credentials`;
    },
  },
];

const SECRETS: readonly (readonly [string, RegExp])[] = [
  ['a private key', /-----BEGIN [A-Z ]*PRIVATE KEY-----/],
  ['a bearer token', /\bBearer [\w.~+/-]{16}/],
  ['a JSON Web Token', /(?<![\w-])eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}/],
  ['an access key of AWS', /\bAKIA[0-9A-Z]{16}\b/],
  ['a token of GitHub', /\bgh[pousr]_[A-Za-z0-9]{36}\b/],
  ['a password', /\bpassword\\?["']?\s*[:=]\s*\\?["']?(?!\*|<|\[|null|undefined)[^\s"'\\]{4,}/i],
];

const FLOOD = 200;
const LEVELS = 'debug, info, notice, warning, error, critical, alert or emergency';

export function isLog({ method }: Frame): boolean {
  return method === 'notifications/message';
}

function heardLogs(context: CheckContext): readonly Frame[] {
  const logs = saidByServer(context, isLog);
  if (logs.length === 0) context.skip('no log message came');
  return logs;
}

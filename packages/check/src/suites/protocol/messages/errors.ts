import { META } from '@isthmus/sdk/internal/era/meta-keys.js';
import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Check } from '../../../model.js';
import type { CheckContext } from '../../../run/check-context.js';
import { complaintText, judgeError } from '../../../shapes/index.js';
import { paramsOf } from '../../../wire/transcript.js';
import {
  errorsIn,
  evidence,
  type HeardAnswer,
  knownRevision,
  nameOf,
  needRefusal,
  several,
  short,
} from '../answers.js';

/** Errors and their codes. */
export const errorChecks: readonly Check[] = [
  {
    id: 'errors/unknown-method',
    suite: 'protocol',
    title: 'Answers an unknown method with -32601',
    level: 'MUST',
    rules: ['ERR-014', 'JRPC-020'],
    era: 'modern',
    hint: 'Answer -32601 in the dispatcher for every method without a handler.',
    run: askUnknown,
  },
  {
    id: 'errors/legacy-unknown-method',
    suite: 'protocol',
    title: 'Answers an unknown method with -32601',
    level: 'SHOULD',
    rules: [],
    reason: 'JSON-RPC defines this code for it, and clients use it to find out which features a server has.',
    era: 'legacy',
    hint: 'Answer -32601 in the dispatcher for every method without a handler.',
    run: askUnknown,
  },
  removed('ping', 'ping', {}, ['PING-004', 'ERR-014']),
  removed('set-level', 'logging/setLevel', { level: 'info' }, ['ERR-014']),
  removed('subscribe', 'resources/subscribe', { uri: 'isthmus-check://nothing' }, ['ERR-014']),
  removed('tasks-list', 'tasks/list', {}, ['ERR-014']),
  {
    id: 'errors/shape',
    suite: 'protocol',
    title: 'Gives every error an integer code, a message, and the data that the code requires',
    level: 'MUST',
    rules: ['JRPC-009', 'ERR-011', 'META-008', 'ERR-020', 'ERR-021'],
    lane: 'after',
    hint: 'error is { code: integer, message: string, data? }; -32021 and -32022 have fixed members in data.',
    run(context) {
      const revision = knownRevision(context);
      const heard = needErrors(context);
      for (const each of heard) {
        const { frame } = each;
        const complaints = judgeError((frame.json as { error: unknown }).error, revision).filter(
          ({ path, expected }) => path !== 'error.code' || expected === 'an integer',
        );
        if (complaints.length > 0)
          context.fail(
            `an error to ${nameOf(each)} is malformed: ${several(complaints.map(complaintText))}`,
            'an error object that matches the schema',
            evidence(each.request, frame),
          );
      }
      return `${heard.length} errors are well-formed`;
    },
  },
  {
    id: 'errors/message-short',
    suite: 'protocol',
    title: 'Explains an error in one short sentence',
    level: 'SHOULD',
    rules: ['JRPC-011'],
    lane: 'after',
    hint: 'Keep error.message to one line, and put details into error.data.',
    run(context) {
      const heard = needErrors(context);
      for (const each of heard) {
        const message = String(each.error['message'] ?? '');
        const what = /[\r\n]/.test(message.trim())
          ? `has ${message.trim().split(/\r?\n/).length} lines`
          : message.length > LONG
            ? `has ${message.length} characters`
            : message.trim() === '' && 'is empty';
        if (what)
          context.fail(
            `the message of an error to ${nameOf(each)} ${what}: "${short(message)}"`,
            'one short sentence',
            evidence(each.request, each.frame),
          );
      }
      return `${heard.length} messages are short`;
    },
  },
  {
    ...coded('errors/reserved-codes', 'Sends only defined codes in the range that MCP reserves'),
    rules: ['ERR-004', 'ERR-008'],
    hint: 'In the range -32020 to -32099, send only -32020, -32021 and -32022. Ask for URL elicitation with input_required.',
    run: (context) =>
      judgeCodes(context, '-32020, -32021 or -32022', (code) => {
        return code <= -32020 && code >= -32099 && ![-32020, -32021, -32022].includes(code);
      }),
  },
  {
    ...coded('errors/old-resource-code', 'Does not send -32002'),
    rules: ['ERR-006'],
    hint: 'Answer -32602 for a missing resource: -32002 belongs to earlier revisions.',
    run: (context) => judgeCodes(context, 'another code', (code) => code === -32002),
  },
  {
    ...coded('errors/own-codes', 'Keeps its own error codes out of the range that JSON-RPC reserves'),
    level: 'SHOULD',
    rules: ['ERR-002', 'ERR-009'],
    hint: 'Use -32603 for internal errors, or a code outside of -32768 to -32000.',
    run: (context) =>
      judgeCodes(context, 'a code outside of -32768 to -32000', (code) => {
        const isFree = code > -32000 || code < -32768;
        const isKnown = [-32700, -32600, -32601, -32602, -32603].includes(code);
        return !isFree && !isKnown && (code > -32020 || code < -32099) && code !== -32002;
      }),
  },
  {
    ...coded(
      'errors/codes-mean-it',
      'Sends -32020, -32021 and -32022 only for the errors that they are defined for',
    ),
    rules: ['ERR-005'],
    hint: 'Use -32020 for HTTP headers, -32021 for missing client capabilities, and -32022 for versions.',
    run(context) {
      const heard = errorsIn(context.transcripts);
      for (const each of heard) {
        const wrong = misused(each, context);
        if (wrong)
          context.fail(`${nameOf(each)}: ${wrong}`, 'another code', evidence(each.request, each.frame));
      }
      return `none of ${heard.length} errors misuses them`;
    },
  },
];

const LONG = 300;

async function askUnknown(context: CheckContext): Promise<string> {
  const conversation = await context.conversation();
  const reply = await conversation.request('isthmus_check/no_such_method', { some: 'params' });
  return needRefusal(context, reply, [-32601], 'isthmus_check/no_such_method');
}

/** A legacy method that the modern era has removed. */
function removed(
  name: string,
  method: string,
  params: Record<string, unknown>,
  rules: readonly string[],
): Check {
  return {
    id: `errors/no-${name}`,
    suite: 'protocol',
    title: `Answers ${method} with -32601 in the modern era`,
    level: 'MUST',
    rules,
    era: 'modern',
    hint: `Answer ${method} with -32601 when the request is modern.`,
    async run(context) {
      const conversation = await context.conversation();
      return needRefusal(context, await conversation.request(method, params), [-32601], method);
    },
  };
}

function coded(id: string, title: string): Omit<Check, 'rules' | 'hint' | 'run'> {
  return { id, suite: 'protocol', title, level: 'MUST', era: 'modern', lane: 'after' };
}

function needErrors(context: CheckContext): HeardAnswer[] {
  const heard = errorsIn(context.transcripts);
  return heard.length > 0 ? heard : context.skip('the server sent no error');
}

function judgeCodes(context: CheckContext, expected: string, isWrong: (code: number) => boolean): string {
  const heard = errorsIn(context.transcripts);
  for (const each of heard) {
    const code = Number(each.error['code']);
    if (isWrong(code))
      context.fail(
        `${nameOf(each)} was answered with error ${code}`,
        expected,
        evidence(each.request, each.frame),
      );
  }
  return `none of ${heard.length} errors has such a code`;
}

function misused({ error, request }: HeardAnswer, context: CheckContext): string | undefined {
  const { code } = error;
  if (code === -32020 && context.target.transport !== 'http')
    return 'error -32020 came over a stream, which has no headers';
  const meta = request && paramsOf(request)['_meta'];
  const asked = isJsonObject(meta) ? meta[META.protocolVersion] : undefined;
  if (code === -32022 && asked === context.revision)
    return `error -32022 came for ${context.revision}, which the server supports`;
  return undefined;
}

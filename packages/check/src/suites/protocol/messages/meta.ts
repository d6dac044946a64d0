import { META } from '@isthmus/sdk/internal/era/meta-keys.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { modernParams } from '../../../conversation/envelope.js';
import type { Check } from '../../../model.js';
import type { CheckContext } from '../../../run/check-context.js';
import { inWords, needRefusal } from '../answers.js';
import { askUnchanged } from '../bare-request.js';
import { listsOf } from '../features/lists.js';

/** `_meta` of modern requests. */
export const metaChecks: readonly Check[] = [
  missing('version', 'the protocol version', (meta) => without(meta, META.protocolVersion)),
  missing('capabilities', 'the capabilities of the client', (meta) => without(meta, META.clientCapabilities)),
  missing('everything', '_meta', () => undefined),
  {
    id: 'meta/client-info-optional',
    suite: 'protocol',
    title: 'Serves a request without clientInfo',
    level: 'SHOULD',
    rules: ['META-003'],
    era: 'modern',
    hint: 'Do not require clientInfo: a client may be configured not to send it.',
    async run(context) {
      const conversation = await context.conversation();
      const reply = await conversation.request(
        'server/discover',
        {},
        { meta: { [META.clientInfo]: undefined } },
      );
      context.needResult(reply, 'server/discover without clientInfo');
      return 'server/discover without clientInfo had a result';
    },
  },
  {
    id: 'meta/client-info-changes-nothing',
    suite: 'protocol',
    title: 'Gives the same answer whatever clientInfo says',
    level: 'SHOULD',
    rules: ['META-011'],
    era: 'modern',
    hint: 'Do not make decisions by clientInfo: any client can write anything there.',
    async run(context) {
      const conversation = await context.conversation();
      const [list] = listsOf(context);
      const method = list?.method ?? 'server/discover';
      const ask = async (clientInfo: JsonObject) => {
        const reply = await conversation.request(method, {}, { meta: { [META.clientInfo]: clientInfo } });
        return context.needResult(reply, `${method} of the client ${String(clientInfo['name'])}`);
      };
      const [one, other] = [
        await ask({ name: 'isthmus-check', version: '1.0.0' }),
        await ask({ name: 'somebody-else', version: '0.0.1', title: 'Another client' }),
      ];
      const members = list ? [list.member] : ['capabilities', 'supportedVersions'];
      const differs = members.find((member) => JSON.stringify(one[member]) !== JSON.stringify(other[member]));
      if (differs)
        context.fail(`${method} has different ${differs} for the client "somebody-else"`, 'the same');
      return `${method} was the same for two clients`;
    },
  },
  {
    id: 'meta/client-info-malformed',
    suite: 'protocol',
    title: 'Answers a request whose clientInfo is malformed',
    level: 'SHOULD',
    rules: [],
    reason: 'clientInfo may be wrong, but a request without an answer hangs.',
    era: 'modern',
    lane: 'abuse',
    hint: 'Refuse it with -32602, or ignore it.',
    async run(context) {
      const _meta = { ...modernMeta(context), [META.clientInfo]: 'isthmus-check 1.0.0' };
      const reply = await askUnchanged(context, { id: 'who', method: 'server/discover', params: { _meta } });
      const seen = `clientInfo that is a string was answered with ${inWords(reply)}`;
      if (reply.kind === 'silence' || (reply.kind === 'error' && reply.error.code !== -32602))
        context.fail(seen, 'a result, or error -32602');
      return seen;
    },
  },
];

/** A check that leaves out a required part of `_meta`. */
function missing(name: string, what: string, leaveOut: (meta: JsonObject) => JsonObject | undefined): Check {
  return {
    id: `meta/missing-${name}`,
    suite: 'protocol',
    title: `Refuses a request without ${what} with -32602`,
    level: 'MUST',
    rules: ['META-004'],
    era: 'modern',
    lane: 'abuse',
    hint: `Answer -32602 when the request lacks ${what}. Do not fall back on what an earlier request said.`,
    async run(context) {
      const method = listsOf(context)[0]?.method ?? 'server/discover';
      const _meta = leaveOut(modernMeta(context));
      const reply = await askUnchanged(context, { id: 'bare', method, ...(_meta && { params: { _meta } }) });
      return needRefusal(context, reply, codesFor(context, name), `${method} without ${what}`);
    },
  };
}

/**
 * A server of both eras cannot recognise a modern request without its version, and may refuse it like a legacy request
 * before `initialize`. Over HTTP it also differs from its header.
 */
function codesFor(context: CheckContext, name: string): readonly number[] {
  if (name === 'capabilities') return [-32602];
  if (context.target.transport === 'http') return [-32602, -32020];
  return context.factsOf('legacy') ? [] : [-32602];
}

function modernMeta(context: CheckContext): JsonObject {
  const { _meta } = modernParams({}, context.revision, {});
  return isJsonObject(_meta) ? _meta : {};
}

function without(meta: JsonObject, key: string): JsonObject {
  return Object.fromEntries(Object.entries(meta).filter(([name]) => name !== key));
}

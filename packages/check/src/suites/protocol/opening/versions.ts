import { META } from '@isthmus/sdk/internal/era/meta-keys.js';
import { isModernRevision } from '@isthmus/sdk/internal/era/revisions.js';
import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Reply } from '../../../conversation/conversation.js';
import { modernParams } from '../../../conversation/envelope.js';
import type { Check } from '../../../model.js';
import type { CheckContext } from '../../../run/check-context.js';
import type { Facts } from '../../../survey/facts.js';
import { needRefusal } from '../answers.js';
import { askFirst, askUnchanged } from '../bare-request.js';
import { listsOf } from '../features/lists.js';

/** The protocol version of modern requests. */
export const versionChecks: readonly Check[] = [
  {
    id: 'versions/unknown-refused',
    suite: 'protocol',
    title: 'Refuses server/discover with an unknown version with -32022',
    level: 'MUST',
    rules: ['VER-001', 'DISC-008', 'ERR-011'],
    era: 'modern',
    lane: 'own',
    hint: 'Check the version of every request first, including server/discover.',
    async run(context) {
      return needRefusal(context, await refusalOf(context), [-32022], 'server/discover as 1900-01-01');
    },
  },
  {
    id: 'versions/future-refused',
    suite: 'protocol',
    title: 'Refuses a future version with -32022',
    level: 'MUST',
    rules: ['VER-001'],
    era: 'modern',
    lane: 'own',
    hint: 'Accept only the exact versions that you implement. A later version is not a superset.',
    async run(context) {
      return needRefusal(
        context,
        await askFirst(context, 'server/discover', '2999-12-31'),
        [-32022],
        'server/discover as 2999-12-31',
      );
    },
  },
  {
    id: 'versions/old-refused',
    suite: 'protocol',
    title: 'Refuses a legacy revision in _meta with -32022 if it does not support the legacy era',
    level: 'MUST',
    rules: ['VER-001'],
    era: 'modern',
    lane: 'own',
    hint: 'Treat a legacy revision in _meta as unsupported, unless you support it.',
    async run(context) {
      if (context.factsOf('legacy')) context.skip('the server also supports the legacy era');
      if (namesOf(context.facts.hello['supportedVersions']).includes('2025-06-18'))
        context.skip('the server lists 2025-06-18');
      return needRefusal(
        context,
        await askFirst(context, 'server/discover', '2025-06-18'),
        [-32022],
        'server/discover as 2025-06-18',
      );
    },
  },
  {
    id: 'versions/refusal-tells',
    suite: 'protocol',
    title: 'Lists the supported versions and the requested one when it refuses a version',
    level: 'MUST',
    rules: ['ERR-011', 'VER-001'],
    era: 'modern',
    lane: 'own',
    hint: 'Put `supported` (all versions that you accept) and `requested` (the version of the request) into error.data.',
    async run(context) {
      const reply = await refusalOf(context);
      if (reply.kind !== 'error' || reply.error.code !== -32022)
        return context.skip('the version was not refused with -32022');
      const data = isJsonObject(reply.error.data) ? reply.error.data : {};
      if (data['requested'] !== '1900-01-01')
        context.fail(`error.data.requested is ${JSON.stringify(data['requested'])}`, '"1900-01-01"');
      if (!namesOf(data['supported']).includes(context.revision))
        context.fail(
          `error.data.supported is ${JSON.stringify(data['supported'])}`,
          `a list of versions, with ${context.revision}`,
        );
      return `the error names ${namesOf(data['supported']).join(', ')}, and 1900-01-01`;
    },
  },
  {
    id: 'versions/every-request',
    suite: 'protocol',
    title: 'Checks the version of each request separately',
    level: 'MUST',
    rules: ['STATE-001', 'VER-001'],
    era: 'modern',
    hint: 'Read the version from each request. Do not remember it for the connection.',
    async run(context) {
      const method = listsOf(context)[0]?.method ?? 'server/discover';
      const conversation = await context.conversation();
      context.needResult(await conversation.request(method), `${method} as ${context.revision}`);
      const refused = await askAs(context, method, '1900-01-01');
      needRefusal(context, refused, [-32022], `${method} as 1900-01-01, after one that was served,`);
      context.needResult(
        await conversation.request(method),
        `${method} as ${context.revision}, after one that was refused,`,
      );
      return `${method} was served as ${context.revision}, refused as 1900-01-01, and served again`;
    },
  },
  {
    id: 'versions/malformed-refused',
    suite: 'protocol',
    title: 'Refuses a version that is not a string',
    level: 'MUST',
    rules: ['VER-001', 'META-004'],
    era: 'modern',
    lane: 'abuse',
    hint: 'Answer -32602 or -32022 to a version that is not a string.',
    async run(context) {
      const params = modernParams({}, context.revision, { meta: { [META.protocolVersion]: 20260728 } });
      const reply = await askUnchanged(context, { id: 'number', method: 'server/discover', params });
      const codes = context.target.transport === 'http' ? [-32602, -32022, -32020] : [-32602, -32022];
      return needRefusal(context, reply, codes, 'a version that is a number');
    },
  },
  {
    id: 'versions/listed-are-served',
    suite: 'protocol',
    title: 'Serves every modern version that server/discover lists',
    level: 'MUST',
    rules: ['DISC-003', 'VER-001'],
    era: 'modern',
    hint: 'List in supportedVersions exactly the versions that you accept.',
    async run(context) {
      const { supportedVersions } = context.facts.hello;
      if (!Array.isArray(supportedVersions)) context.skip(NO_LIST);
      const listed = namesOf(supportedVersions).filter((name) => name >= '2026-07-28');
      if (listed.length === 0)
        context.fail('supportedVersions has no modern version', 'the requested version');
      for (const version of listed)
        context.needResult(
          await askAs(context, 'server/discover', version),
          `server/discover as ${version}, which is listed,`,
        );
      return `${listed.join(', ')} ${listed.length === 1 ? 'is' : 'are'} listed and served`;
    },
  },
  {
    id: 'versions/lists-agree',
    suite: 'protocol',
    title: 'Lists the same versions in server/discover and when it refuses one',
    level: 'SHOULD',
    rules: [],
    reason: 'A client picks its version from either list, and must find the same one.',
    era: 'modern',
    lane: 'own',
    hint: 'Fill supportedVersions and error.data.supported from the same place.',
    async run(context) {
      if (!Array.isArray(context.facts.hello['supportedVersions'])) return context.skip(NO_LIST);
      const reply = await refusalOf(context);
      const data = reply.kind === 'error' && isJsonObject(reply.error.data) ? reply.error.data : {};
      if (!Array.isArray(data['supported'])) return context.skip('the error has no list of versions');
      // Legacy revisions may be in only one of the lists.
      const modern = (list: unknown) => namesOf(list).filter(isModern).sort().join(', ');
      const [discovered, refused] = [
        modern(context.facts.hello['supportedVersions']),
        modern(data['supported']),
      ];
      if (discovered !== refused)
        context.fail(
          `server/discover lists ${discovered}, the error lists ${refused || 'none'}`,
          'the same versions',
        );
      return `both name ${discovered}`;
    },
  },
];

/** Another check reports this fault. */
const NO_LIST = 'server/discover has no list of versions (see shapes/server-discover)';

/** The answer to a first request with an unknown version, requested once for all checks. */
function refusalOf(context: CheckContext): Promise<Reply> {
  const known = refusals.get(context.facts) ?? askFirst(context, 'server/discover', '1900-01-01');
  refusals.set(context.facts, known);
  return known;
}

const refusals = new WeakMap<Facts, Promise<Reply>>();

/** Sends a request with this version on the shared connection. */
async function askAs(context: CheckContext, method: string, version: string): Promise<Reply> {
  const conversation = await context.conversation();
  return conversation.request(
    method,
    {},
    { meta: { [META.protocolVersion]: version }, headers: { 'mcp-protocol-version': version } },
  );
}

function namesOf(list: unknown): string[] {
  return Array.isArray(list) ? list.filter((each) => typeof each === 'string') : [];
}

function isModern(version: string): boolean {
  return isModernRevision(version) || version > '2026-07-28';
}

import { LEGACY_REVISIONS, type LegacyRevision } from '@isthmus/sdk/internal/era/revisions.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { helloMessage } from '../../conversation/envelope.js';
import { NoHello } from '../../conversation/open-conversation.js';
import type { Check } from '../../model.js';
import { complaintText, judgeResult } from '../../shapes/index.js';
import { membersOf } from '../../wire/transcript.js';
import { needBothEras, openLine } from './line.js';

/** A server conforms to each revision that it accepts, and is the same server in both eras. */
export const matrixChecks: readonly Check[] = [
  ...LEGACY_REVISIONS.map(speaks),
  {
    id: 'era/supported-is-true',
    suite: 'era',
    title: 'Supports every version that it lists',
    level: 'MUST',
    rules: ['INIT-009', 'DISC-003'],
    hint: 'List in supportedVersions only versions that you serve, and accept each listed legacy revision.',
    era: 'modern',
    lane: 'own',
    async run(context) {
      const claimed = context.facts.hello['supportedVersions'];
      if (!Array.isArray(claimed))
        return context.skip('server/discover has no list of versions (see shapes/server-discover)');
      const versions = claimed.map(String);
      for (const version of versions) {
        const line = await openLine(context);
        const isLegacy = version < '2026';
        const hello = helloMessage(isLegacy ? 'legacy' : 'modern', version, { id: 1 });
        const { result, seen } = await line.ask(hello);
        if (!result) context.fail(`it lists ${version}, but ${hello.method} got ${seen}`, 'a result');
        if (isLegacy && result?.['protocolVersion'] !== version)
          context.fail(`it lists ${version}, but initialize with it got ${seen}`, `version ${version}`);
      }
      return `it supports ${versions.join(', ')}`;
    },
  },
  ...(['tools', 'resources', 'prompts'] as const).map(sameOffers),
  {
    id: 'era/same-identity',
    suite: 'era',
    title: 'Has the same name and version in both eras',
    level: 'SHOULD',
    rules: [],
    reason: 'Hosts recognise a server by its name in both eras.',
    hint: 'Use the same serverInfo in both eras.',
    era: 'none',
    async run(context) {
      needBothEras(context);
      const [modern, legacy] = (['modern', 'legacy'] as const).map((era) => {
        const info = context.factsOf(era)?.serverInfo;
        return info ? `${String(info['name'])} ${String(info['version'])}` : undefined;
      });
      if (modern === undefined || legacy === undefined)
        return context.skip('it has no serverInfo in one of the eras');
      if (modern !== legacy)
        context.fail(`it is ${modern} in the modern era and ${legacy} in the legacy era`, 'one name');
      return `it is ${modern} in both`;
    },
  },
  {
    id: 'era/no-rounds-in-legacy',
    suite: 'era',
    title: 'Never sends an input_required result to a legacy client',
    level: 'MUST',
    rules: ['VER-006'],
    hint: 'In a legacy session, send the question as a request.',
    era: 'legacy',
    lane: 'after',
    run(context) {
      const frames = context.transcripts.flatMap(({ frames: all }) => all);
      const results = frames.filter(({ from, kind }) => from === 'server' && kind === 'result');
      const wrong = results.find((frame) => {
        const result = membersOf(frame)['result'];
        return isJsonObject(result) && result['resultType'] === 'input_required';
      });
      if (wrong) {
        context.fail(`a result in a legacy session is ${wrong.text.slice(0, 200)}`, 'no input_required', {
          wire: [{ from: 'server', atMs: wrong.atMs, text: wrong.text.slice(0, 2000) }],
        });
      }
      return `none of ${results.length} results asks for input`;
    },
  },
];

function speaks(revision: LegacyRevision): Check {
  return {
    id: `era/speaks-${revision}`,
    suite: 'era',
    title: `Conforms to ${revision} if it accepts it`,
    level: 'MUST',
    rules: ['INIT-009', 'INIT-003'],
    hint: `Send only messages that match the schema of ${revision} in such a session, or do not accept it.`,
    era: 'legacy',
    lane: 'own',
    async run(context) {
      const conversation = await context
        .openConversation({ era: 'legacy', revision })
        .catch((error: unknown) => {
          if (error instanceof NoHello)
            return context.skip(`initialize with it was refused: ${error.message}`);
          throw error;
        });
      if (conversation.revision !== revision)
        return context.skip(`it does not accept ${revision}, and offers ${conversation.revision}`);
      const judge = (method: string, result: JsonObject) => {
        const [complaint] = judgeResult(method, result, revision);
        if (complaint)
          context.fail(
            `in a session of ${revision}, ${method}: ${complaintText(complaint)}`,
            `its shape in ${revision}`,
          );
      };
      judge('initialize', conversation.hello);
      const lists = ['tools', 'resources', 'prompts'].filter(
        (each) => conversation.capabilities[each] !== undefined,
      );
      for (const each of lists) {
        const method = `${each}/list`;
        judge(
          method,
          context.needResult(await conversation.request(method), `${method} in a session of ${revision}`),
        );
      }
      context.needResult(await conversation.request('ping'), `ping in a session of ${revision}`);
      return `initialize, ping and ${lists.length} lists are as ${revision} has them`;
    },
  };
}

function sameOffers(kind: 'tools' | 'resources' | 'prompts'): Check {
  return {
    id: `era/same-${kind}`,
    suite: 'era',
    title: `Has the same ${kind} in both eras`,
    level: 'SHOULD',
    rules: [],
    reason: 'The features of a server should not depend on the era of the client.',
    hint: `Register ${kind} once, for both eras.`,
    era: 'none',
    async run(context) {
      needBothEras(context);
      const key = kind === 'resources' ? 'uri' : 'name';
      const [modern = [], legacy = []] = (['modern', 'legacy'] as const).map((era) =>
        (context.factsOf(era)?.[kind] ?? []).map((each) => String(each[key])),
      );
      if (modern.length + legacy.length === 0) return context.skip(`it has no ${kind}`);
      const only = (here: readonly string[], there: readonly string[]) =>
        here.filter((each) => !there.includes(each));
      const [newer, older] = [only(modern, legacy), only(legacy, modern)];
      if (newer.length > 0)
        context.fail(`only in the modern era: ${newer.slice(0, 5).join(', ')}`, `the same ${kind}`);
      if (older.length > 0)
        context.fail(`only in the legacy era: ${older.slice(0, 5).join(', ')}`, `the same ${kind}`);
      return `${modern.length} ${kind} in both`;
    },
  };
}

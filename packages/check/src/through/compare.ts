import type { Era } from '@isthmus/sdk/internal/exchange/call.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Reply } from '../conversation/conversation.js';
import type { Finding, Report } from '../model.js';
import type { Facts, WalkthroughStop } from '../survey/facts.js';
import { compareMembers, compareValues, type Difference, difference, stable } from './differences.js';

/** The report and the facts of one run. */
export interface Judged {
  readonly report: Report;
  readonly facts: readonly Facts[];
}

/**
 * All differences between a server and the same server behind a bridge. `again` is a second survey of the server itself:
 * what already differs there is not reported.
 */
export function compare(direct: Judged, again: readonly Facts[], through: Judged): Difference[] {
  const eras = compareEras(direct.facts, through.facts);
  const shared = direct.facts.flatMap((facts) => {
    const other = through.facts.find(({ era }) => era === facts.era);
    const second = again.find(({ era }) => era === facts.era) ?? facts;
    return other ? [[facts, second, other] as const] : [];
  });
  return [
    ...eras,
    ...shared.flatMap(([facts, second, other]) => [
      ...compareOffers(facts, second, other),
      ...compareReplies(facts, second, other),
    ]),
    ...compareFindings(direct.report.findings, through.report.findings),
  ];
}

function compareEras(direct: readonly Facts[], through: readonly Facts[]): Difference[] {
  const names = (facts: readonly Facts[]) => facts.map(({ era }) => era);
  const lost = names(direct).filter((era) => !names(through).includes(era));
  const won = names(through).filter((era) => !names(direct).includes(era));
  return [
    ...lost.map((era) => difference('worse', era, `era ${era}`, 'is spoken', 'is not')),
    ...won.map((era) => difference('better', era, `era ${era}`, 'is not spoken', 'is')),
  ];
}

const OFFERS = [
  ['tool', 'tools', 'name'],
  ['resource', 'resources', 'uri'],
  ['template', 'templates', 'uriTemplate'],
  ['prompt', 'prompts', 'name'],
] as const;

function compareOffers(direct: Facts, again: Facts, through: Facts): Difference[] {
  const { era } = direct;
  const capabilities = compareMembers(
    era,
    'capabilities',
    [direct.capabilities, again.capabilities],
    through.capabilities,
  );
  const server = compareMembers(era, 'server', [direct.serverInfo, again.serverInfo], through.serverInfo);
  const instructions = compareMembers(
    era,
    'instructions',
    [direct.hello['instructions'], again.hello['instructions']],
    through.hello['instructions'],
  );
  const lists = OFFERS.flatMap(([word, list, key]) => {
    const find = (facts: Facts, name: unknown) => plain(facts[list].find((each) => each[key] === name));
    const known = direct[list].flatMap((item) => {
      const about = `${word} ${String(item[key])}`;
      return compareMembers(era, about, [item, find(again, item[key])], find(through, item[key]));
    });
    const added = through[list]
      .filter((item) => !find(direct, item[key]) && !find(again, item[key]))
      .map((item) => difference('other', era, `${word} ${String(item[key])}`, 'is not there', 'is there'));
    return [...known, ...added];
  });
  return [...capabilities, ...server, ...instructions, ...lists];
}

/** Without members that mean the same as if they were missing. */
function plain(item: JsonObject | undefined): JsonObject | undefined {
  const { execution, ...rest } = item ?? {};
  return isJsonObject(execution) && execution['taskSupport'] === 'forbidden' ? rest : item;
}

function compareReplies(direct: Facts, again: Facts, through: Facts): Difference[] {
  return direct.walkthrough.flatMap((stop) => {
    const find = (facts: Facts) => facts.walkthrough.find((each) => isSameStop(each, stop));
    const other = find(through);
    const about = `${stop.method} ${String(stop.params['name'] ?? stop.params['uri'])}`;
    // A difference of the item itself is reported already.
    if (!other && !isSameItem(stop, direct, through)) return [];
    if (!other) return [difference('worse', direct.era, about, 'was called', 'could not be called')];
    const second = find(again) ?? stop;
    const each = [
      {
        about,
        values: [stop, second, other].map(({ reply }) => answerOf(reply)),
        isLoss: isWorse(stop, other),
      },
      ...(
        [
          ['notifications', (visited: WalkthroughStop) => heardIn(visited, direct.era)],
          ['questions', askedIn],
        ] as const
      ).map(([what, listIn]) => ({
        about: `${what} of ${about}`,
        values: [stop, second, other].map((visited) => listIn(visited)),
        isLoss: listIn(other).length < listIn(stop).length,
      })),
    ];
    // An error instead of a result is one difference, not one for each member.
    const kinds = [stop, second, other].map(({ reply }) => reply.kind);
    if (kinds[0] === kinds[1] && kinds[0] !== kinds[2]) {
      const kind = isWorse(stop, other) ? 'worse' : 'better';
      return [difference(kind, direct.era, about, inWords(stop.reply), inWords(other.reply))];
    }
    return each.flatMap(({ about: what, values: [was, again, is], isLoss }) =>
      compareValues(direct.era, what, [was, again], is, isLoss ? 'worse' : 'other'),
    );
  });
}

/** Whether something worked directly, but not through the bridge. */
function isWorse({ reply: was }: WalkthroughStop, { reply: is }: WalkthroughStop): boolean {
  const rank = (reply: Reply) =>
    ['silence', 'error', 'failed', 'result'].indexOf(
      reply.kind === 'result' && reply.result['isError'] === true ? 'failed' : reply.kind,
    );
  return rank(is) < rank(was);
}

/** Whether both runs list the same item for a stop. */
function isSameItem({ method, params }: WalkthroughStop, direct: Facts, through: Facts): boolean {
  const list = method === 'tools/call' ? 'tools' : method === 'prompts/get' ? 'prompts' : 'resources';
  const key = list === 'resources' ? 'uri' : 'name';
  const [one, other] = [direct, through].map((facts) =>
    facts[list].find((each) => each[key] === params[key]),
  );
  return one !== undefined && stable(one) === stable(other);
}

function isSameStop(a: WalkthroughStop, b: WalkthroughStop): boolean {
  return a.method === b.method && JSON.stringify(a.params) === JSON.stringify(b.params);
}

function inWords(reply: Reply): string {
  if (reply.kind === 'silence') return `no answer: ${reply.why}`;
  if (reply.kind === 'error') return `error ${reply.error.code}: ${reply.error.message}`.slice(0, 300);
  return `the result ${stable(answerOf(reply)).slice(0, 300)}`;
}

/** The content of an answer, without members that each hop may set. */
function answerOf(reply: Reply): unknown {
  if (reply.kind === 'silence') return 'no answer';
  if (reply.kind === 'error') return { error: reply.error };
  const { _meta, ttlMs: _ttlMs, cacheScope: _cacheScope, requestState, ...result } = reply.result;
  const meta = isJsonObject(_meta)
    ? Object.fromEntries(Object.entries(_meta).filter(([key]) => !key.startsWith('io.modelcontextprotocol/')))
    : {};
  return {
    ...result,
    // A state is opaque, and a bridge may wrap it. Only its presence is compared.
    ...(requestState !== undefined && { requestState: 'opaque' }),
    ...(Object.keys(meta).length > 0 && { _meta: meta }),
  };
}

/** Progress, and log messages that certainly belong to the call. */
function heardIn({ reply }: WalkthroughStop, era: Era): unknown[] {
  return reply.notifications.flatMap(({ method, json }) => {
    const isLog = era === 'modern' && method === 'notifications/message';
    if (method !== 'notifications/progress' && !isLog) return [];
    const { progressToken: _token, _meta, ...params } = ((json as JsonObject)['params'] ?? {}) as JsonObject;
    return [{ method, params }];
  });
}

/** Without roots/list: a server may send it at any time, and a legacy one does not say for which call. */
function askedIn({ questions }: WalkthroughStop): unknown[] {
  return questions.flatMap(({ method, json }) => {
    if (method === 'roots/list') return [];
    const { _meta, elicitationId: _id, ...params } = ((json as JsonObject)['params'] ?? {}) as JsonObject;
    return [{ method, params }];
  });
}

/** Compares checks that apply in both runs. */
function compareFindings(direct: readonly Finding[], through: readonly Finding[]): Difference[] {
  const keyOf = ({ id, era }: Finding) => `${id} ${era ?? ''}`;
  const others = new Map(through.map((finding) => [keyOf(finding), finding]));
  return direct.flatMap((finding) => {
    const other = others.get(keyOf(finding));
    if (!other || finding.outcome === 'skip' || other.outcome === 'skip') return [];
    const [was, is] = [isBroken(finding), isBroken(other)];
    if (was === is) return [];
    const about = `check ${finding.id}`;
    return [difference(is ? 'worse' : 'better', finding.era, about, sentence(finding), sentence(other))];
  });
}

function isBroken({ outcome }: Finding): boolean {
  return outcome === 'fail' || outcome === 'warn' || outcome === 'error';
}

function sentence({ outcome, seen, level }: Finding): string {
  return outcome === 'pass' ? `holds: ${seen}` : `${level} does not hold: ${seen}`;
}

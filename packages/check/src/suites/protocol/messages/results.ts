import { META } from '@isthmus/sdk/internal/era/meta-keys.js';
import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Check } from '../../../model.js';
import type { CheckContext } from '../../../run/check-context.js';
import { judgeNotification, judgeResult } from '../../../shapes/index.js';
import {
  evidence,
  type HeardAnswer,
  isNotification,
  knownRevision,
  nameOf,
  resultsIn,
  saidByServer,
  several,
} from '../answers.js';

/** The common members of results. */
export const resultChecks: readonly Check[] = [
  {
    id: 'results/type',
    suite: 'protocol',
    title: 'States the type of every result',
    level: 'MUST',
    rules: ['RTYPE-001'],
    era: 'modern',
    lane: 'after',
    hint: 'Add resultType "complete" to every result, including empty ones.',
    run: (context) =>
      eachResult(context, 'has a resultType', ({ result }) =>
        typeof result['resultType'] === 'string'
          ? undefined
          : [`resultType is ${JSON.stringify(result['resultType']) ?? 'absent'}`, 'a string'],
      ),
  },
  {
    id: 'results/type-known',
    suite: 'protocol',
    title: 'Uses only result types of the core, or of extensions that the client declared',
    level: 'MUST',
    rules: ['RTYPE-005', 'VER-021', 'TASK-016'],
    era: 'modern',
    lane: 'after',
    hint: 'Answer with "complete" or "input_required", unless the request declared the extension.',
    run: (context) =>
      eachResult(context, 'has a type that the client knows', ({ result }) => {
        const { resultType } = result;
        if (typeof resultType !== 'string' || CORE_TYPES.includes(resultType)) return undefined;
        return [`resultType is "${resultType}"`, CORE_TYPES.join(' or ')];
      }),
  },
  {
    id: 'results/type-true',
    suite: 'protocol',
    title: 'Uses resultType complete for final results and input_required for questions',
    level: 'MUST',
    rules: ['RTYPE-002'],
    era: 'modern',
    lane: 'after',
    hint: 'Set resultType where the result is made: a result with inputRequests or requestState is input_required.',
    run: (context) =>
      eachResult(context, 'has the right type', ({ result, method }) => {
        const { resultType } = result;
        const asks = result['inputRequests'] !== undefined || result['requestState'] !== undefined;
        if (resultType === 'complete' && asks && !isPassedOn(method))
          return ['resultType is "complete", but it has inputRequests or requestState', '"input_required"'];
        if (resultType === 'input_required' && !asks)
          return ['resultType is "input_required", but there is no question', '"complete", or a question'];
        return undefined;
      }),
  },
  {
    id: 'results/server-info',
    suite: 'protocol',
    title: 'Identifies itself in every result',
    level: 'SHOULD',
    rules: ['META-010'],
    era: 'modern',
    lane: 'after',
    hint: `Add _meta["${META.serverInfo}"] with name and version to every result.`,
    run: (context) =>
      eachResult(context, 'identifies the server', ({ result }) => {
        const info = isJsonObject(result['_meta']) ? result['_meta'][META.serverInfo] : undefined;
        if (isJsonObject(info) && typeof info['name'] === 'string' && typeof info['version'] === 'string')
          return undefined;
        return [`_meta["${META.serverInfo}"] is ${JSON.stringify(info) ?? 'absent'}`, 'a name and a version'];
      }),
  },
  {
    id: 'results/meta-keys',
    suite: 'protocol',
    title: 'Uses valid keys in _meta',
    level: 'MUST',
    rules: ['META-015', 'META-016'],
    lane: 'after',
    hint: 'A name begins and ends with a letter or digit. A prefix is a series of labels with dots, then a slash: com.example/name.',
    run(context) {
      const revision = knownRevision(context);
      if (revision < '2025-06-18') context.skip(`revision ${revision} is older than the rule`);
      for (const frame of saidByServer(context, isNotification)) {
        const { params } = frame.json as { params?: unknown };
        const bad = judgeNotification(frame.method ?? '', params, revision).find(isAboutKeys);
        if (bad)
          context.fail(
            `${frame.method} has the key ${bad.got} in ${bad.path}`,
            bad.expected,
            evidence(frame),
          );
      }
      return eachResult(context, 'has valid keys in _meta', ({ result, method }) => {
        const bad = judgeResult(method, result, revision).find(isAboutKeys);
        return bad && [`the key ${bad.got} is in ${bad.path}`, bad.expected];
      });
    },
  },
  {
    id: 'results/meta-reserved',
    suite: 'protocol',
    title: 'Does not use the reserved prefixes of MCP for its own keys in _meta',
    level: 'MUST',
    rules: ['META-018', 'META-019'],
    lane: 'after',
    hint: 'Use a domain that you own as the prefix: com.example/name.',
    run(context) {
      const revision = knownRevision(context);
      if (revision < '2025-06-18') context.skip(`revision ${revision} is older than the rule`);
      for (const frame of saidByServer(context, isNotification)) {
        const key = metaKeys(frame.json).find((each) => usesReservedPrefix(each, revision));
        if (key !== undefined)
          context.fail(`${frame.method} has the key ${key} in _meta`, 'another prefix', evidence(frame));
      }
      return eachResult(context, 'does not use them', ({ result }) => {
        const key = metaKeys(result).find((each) => usesReservedPrefix(each, revision));
        return key === undefined ? undefined : [`the key ${key} is in _meta`, 'another prefix'];
      });
    },
  },
  {
    id: 'results/trace-context',
    suite: 'protocol',
    title: 'Writes traceparent, tracestate and baggage in the formats of W3C',
    level: 'MUST',
    rules: ['META-020'],
    era: 'modern',
    lane: 'after',
    hint: 'Pass on the values of a tracing library unchanged.',
    run(context) {
      const revision = knownRevision(context);
      const heard = resultsIn(context.transcripts).filter(({ frame }) => TRACES.test(frame.text));
      if (heard.length === 0) context.skip('no result has traceparent, tracestate or baggage');
      return eachResult(context, 'has valid trace members', ({ result, method }) => {
        const bad = judgeResult(method, result, revision).find(({ path }) => isTrace(path));
        return bad && [`${bad.path} is ${bad.got}`, bad.expected];
      });
    },
  },
];

const TRACES = /"(traceparent|tracestate|baggage)"/;

export function isTrace(path: string): boolean {
  return /\b_meta\.(traceparent|tracestate|baggage)$/.test(path);
}

/** All keys of every `_meta` in the value: of messages, items and content blocks. */
function metaKeys(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(metaKeys);
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    if (name === '_meta') return isJsonObject(member) ? Object.keys(member) : [];
    // The content of these members is up to the tool.
    return OWN.includes(name) ? [] : metaKeys(member);
  });
}

const OWN = ['structuredContent', 'inputSchema', 'outputSchema', 'arguments', 'data'];

/** Whether a key uses a reserved prefix that does not belong to MCP or one of its extensions. */
function usesReservedPrefix(key: string, revision: string): boolean {
  if (!key.includes('/') || key.startsWith('io.modelcontextprotocol/')) return false;
  const labels = key.slice(0, key.indexOf('/')).split('.');
  const reserved = revision === '2025-06-18' ? labels.at(-2) : labels[1];
  return reserved === 'modelcontextprotocol' || reserved === 'mcp';
}

const CORE_TYPES = ['complete', 'input_required'];

function isAboutKeys({ expected }: { readonly expected: string }): boolean {
  return expected.startsWith('keys such as');
}

/** Methods of extensions such as tasks may carry the questions of another request. */
function isPassedOn(method: string): boolean {
  return method.startsWith('tasks/');
}

/** Judges every result. `judge` returns the fault and the expectation. */
function eachResult(
  context: CheckContext,
  what: string,
  judge: (answer: HeardAnswer) => readonly [seen: string, expected: string] | undefined,
): string {
  const heard = resultsIn(context.transcripts);
  if (heard.length === 0) context.skip('the server sent no result');
  const wrong = heard.flatMap((answer) => {
    const verdict = judge(answer);
    return verdict ? [{ answer, seen: verdict[0], expected: verdict[1] }] : [];
  });
  const [first] = wrong;
  if (first) {
    const methods = [...new Set(wrong.map(({ answer }) => answer.method))];
    context.fail(
      `in ${wrong.length} of ${heard.length} results (${several(methods)}): ${first.seen} in the result of ${nameOf(first.answer)}`,
      first.expected,
      evidence(first.answer.request, first.answer.frame),
    );
  }
  return `each of ${heard.length} results ${what}`;
}

import type { Check } from '../../../model.js';
import { type Complaint, complaintText, judgeNotification, judgeResult } from '../../../shapes/index.js';
import { paramsOf } from '../../../wire/transcript.js';
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
import { isTrace } from './results.js';

const SCHEMA = 'The schema of a revision is part of its specification, and clients parse results with it.';

/** Compares all results and notifications with the schema of their revision. */
export const shapeChecks: readonly Check[] = [
  family('server/discover', ['DISC-003'], 'supportedVersions, capabilities and optional instructions'),
  family('initialize', ['INIT-003'], 'protocolVersion, capabilities, serverInfo and optional instructions'),
  family('tools/list', ['TOOL-006'], 'tools with a name and an inputSchema of type object'),
  family('prompts/list', [], 'prompts with a name, and arguments with names'),
  family('prompts/get', ['PROMPT-007'], 'messages with a role and one block of content'),
  family('resources/list', [], 'resources with a uri and a name'),
  family('resources/templates/list', ['RES-010'], 'resourceTemplates with a uriTemplate and a name'),
  family('resources/read', ['RES-007', 'RES-016'], 'contents with a uri and either text or base64'),
  {
    id: 'shapes/notifications',
    suite: 'protocol',
    title: 'Sends well-formed notifications of the negotiated revision',
    level: 'MUST',
    rules: ['LOG-006', 'META-013'],
    lane: 'after',
    hint: 'Compare the params with the schema of the revision.',
    run(context) {
      const revision = knownRevision(context);
      const frames = saidByServer(context, isNotification);
      if (frames.length === 0) context.skip('the server sent no notification');
      for (const frame of frames) {
        const { params } = frame.json as { readonly params?: unknown };
        const complaints = judgeNotification(frame.method ?? '', params, revision).filter(isOurs);
        if (complaints.length > 0)
          context.fail(
            `${frame.method}: ${several(complaints.map(complaintText))}`,
            `a notification that matches the schema of ${revision}`,
            evidence(frame),
          );
      }
      return `${frames.length} notifications are well-formed`;
    },
  },
  {
    id: 'shapes/media-types',
    suite: 'protocol',
    title: 'Writes valid media types',
    level: 'SHOULD',
    rules: [],
    reason: 'A client decides by the media type how to show content.',
    lane: 'after',
    hint: 'Write type/subtype: "text/plain", "image/png".',
    run(context) {
      const revision = knownRevision(context);
      const heard = resultsIn(context.transcripts);
      for (const answer of heard) {
        const bad = judgeResult(answer.method, answer.result, revision).find(isAboutMediaTypes);
        if (bad)
          context.fail(
            `${nameOf(answer)}: ${complaintText(bad)}`,
            bad.expected,
            evidence(answer.request, answer.frame),
          );
      }
      return `${heard.length} results were checked`;
    },
  },
];

/** Judges all results of one method, except for members with their own check. */
function family(method: string, rules: readonly string[], parts: string): Check {
  return {
    id: `shapes/${method.replaceAll('/', '-')}`,
    suite: 'protocol',
    title: `Answers ${method} with a well-formed result`,
    // The other methods have no rule, only the schema.
    level: rules.length > 0 ? 'MUST' : 'SHOULD',
    rules,
    ...(rules.length === 0 && { reason: SCHEMA }),
    lane: 'after',
    ...(method === 'server/discover' && { era: 'modern' as const }),
    ...(method === 'initialize' && { era: 'legacy' as const }),
    hint: `The result has ${parts}. Compare it with the schema of the revision.`,
    run(context) {
      const revision = knownRevision(context);
      const heard = resultsIn(context.transcripts).filter((answer) => answer.method === method);
      if (heard.length === 0) context.skip(`there was no result of ${method}`);
      for (const answer of heard) {
        const said = argumentsOf(answer);
        const complaints = judgeResult(method, answer.result, revision).filter(
          (each) => isOurs(each) && !said.includes(each.got),
        );
        if (complaints.length > 0)
          context.fail(
            `${nameOf(answer)}: ${several(complaints.map(complaintText))}`,
            `a result that matches the schema of ${revision}`,
            evidence(answer.request, answer.frame),
          );
      }
      return `${heard.length} results of ${method} are well-formed`;
    },
  };
}

/** The arguments of the request. A server may return them, and they need not be valid URIs. */
function argumentsOf({ request }: HeardAnswer): string[] {
  const given = request && paramsOf(request)['arguments'];
  return Object.values(given ?? {}).map((value) => JSON.stringify(value));
}

function isAboutMediaTypes({ expected }: Complaint): boolean {
  return expected.startsWith('a media type such as');
}

/** The rest is judged by `results/…`, `cache/…`, `resources/uris` and `shapes/media-types`. */
function isOurs(complaint: Complaint): boolean {
  const { path, expected } = complaint;
  if (/^result\.(resultType|ttlMs|cacheScope|resources\[\d+\]\.uri)$/.test(path)) return false;
  if (isTrace(path)) return false;
  return !isAboutMediaTypes(complaint) && !expected.startsWith('keys such as');
}

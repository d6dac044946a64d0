import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Complaint,
  complaintText,
  judgeNotification,
  judgeResult,
  judgeServerRequest,
} from '../../src/shapes/index.js';
import { placesOf, put } from '../support/shapes/mutate.js';
import { CORE, V1 } from '../support/shapes/official-verdict.js';
import { NOTIFICATIONS, REQUESTS, RESULTS } from '../support/shapes/rich-messages.js';

interface Judged {
  readonly name: string;
  readonly message: object;
  readonly ours: (value: unknown) => Complaint[];
  readonly theirs: (value: unknown) => string | undefined;
}

const JUDGED: readonly Judged[] = [
  ...Object.entries(RESULTS).flatMap(([name, message]): Judged[] => [
    {
      name: `${name} of 2025-11-25`,
      message,
      ours: (value) => judgeResult(name, value, '2025-11-25'),
      theirs: (value) => V1.result(name, value),
    },
    {
      name: `${name} of 2026-07-28`,
      message: { ...message, resultType: 'complete', ttlMs: 0, cacheScope: 'public' },
      ours: (value) => judgeResult(name, value, '2026-07-28'),
      theirs: (value) => CORE.result(name, value),
    },
  ]),
  ...Object.entries(NOTIFICATIONS).map(([name, message]) => ({
    name,
    message,
    ours: (value: unknown) => judgeNotification(name, value, '2025-11-25'),
    theirs: (value: unknown) => V1.notification(name, value),
  })),
  ...Object.entries(REQUESTS).map(([name, message]) => ({
    name,
    message,
    ours: (value: unknown) => judgeServerRequest(name, value, '2025-11-25'),
    theirs: (value: unknown) => V1.request(name, value),
  })),
];

/** Where we complain and the official schemas do not, and why we do. */
const STRICTER: readonly [RegExp, string][] = [
  [/expected a URI \(RFC 3986\)/, 'they take any string for a URI (RES-015)'],
  [/expected an http:, https: or data: URI/, 'they take any string for the source of an icon'],
  [/expected a URI template \(RFC 6570\)/, 'they take any string for a template (RES-010)'],
  [/expected a media type/, 'they take any string for a media type, and none in a prompt (PROMPT-007)'],
  [/expected base64/, 'they leave out white space, and forgive missing padding'],
  [
    /(?:size|total|minLength|maxLength|minItems|maxItems): expected an integer of 0 or more/,
    'the schema has an integer, they have any number',
  ],
  [/\.content: expected an array, got nothing/, 'they fill in an empty array (TOOL-016)'],
  [
    /(?:properties\.\w+|metadata|\.task): expected an object, got an array/,
    'they take an array for an object',
  ],
  [/properties\.\w+\.(?:enum|enumNames|oneOf|anyOf)/, 'they take a broken choice for free text'],
  [/expected a tool_result for/, 'they do not look at the next message (SAMP-008)'],
  [/Schema\.(?:properties|required|\$schema)\b/, 'from 2.x on they take any schema of an object'],
  [/expected keys such as/, 'they take any key in _meta (META-015, META-016)'],
  [
    /result\.(?:resultType|ttlMs|cacheScope): expected/,
    'their results are of every revision (RTYPE-001, CACHE-001)',
  ],
];

/** Where the official schemas complain and we do not. */
const LAXER: readonly [RegExp, string][] = [[/Invalid ISO datetime/, 'a date alone is ISO 8601, too']];

function disagreement({ ours, theirs }: Judged, value: unknown): string | undefined {
  const complaints = ours(value).map(complaintText);
  const why = theirs(value);
  if ((complaints.length === 0) === (why === undefined)) return undefined;
  const explained =
    why === undefined
      ? complaints.every((each) => STRICTER.some(([pattern]) => pattern.test(each)))
      : LAXER.some(([pattern]) => pattern.test(why));
  return explained ? undefined : `ours: ${complaints}; theirs: ${why}`;
}

const ODD = [undefined, null, true, 0, -1, 1.5, 5, '', 'a', 'x y', '2025-01-12', [], ['a'], {}, { a: 1 }];

describe('our verdict and that of the official schemas', () => {
  it.each(JUDGED.map((judged) => [judged.name, judged] as const))('agree about %s', (_name, judged) => {
    expect(judged.ours(judged.message)).toEqual([]);
    expect(judged.theirs(judged.message)).toBeUndefined();
    const found = placesOf(judged.message).flatMap((place) =>
      ODD.flatMap((value) => disagreement(judged, put(judged.message, place, value)) ?? []),
    );
    expect(found).toEqual([]);
  });

  it('agree about whatever else stands in two places', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...JUDGED).chain((judged) => {
          const place = fc.constantFrom(...placesOf(judged.message));
          return fc.tuple(fc.constant(judged), place, fc.jsonValue(), place, fc.jsonValue());
        }),
        ([judged, first, one, second, other]) => {
          const mutant = put(put(judged.message, first, one), second, other);
          expect(disagreement(judged, mutant)).toBeUndefined();
        },
      ),
      { numRuns: 1500, seed: 8 },
    );
  });
});

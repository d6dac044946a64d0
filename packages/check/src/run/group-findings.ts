import type { Era, Finding } from '../model.js';
import type { Facts } from '../survey/facts.js';

/**
 * One fault may fail many checks. Checks that failed only because of it become `skip`, with a reference to the finding about
 * the fault, and that finding lists them. So a fault counts once in the grade, for all eras together.
 */
export function groupFindings(findings: readonly Finding[], facts: readonly Facts[]): Finding[] {
  let grouped = [...findings];
  for (const fault of faultsOf(facts)) grouped = group(grouped, fault);
  return grouped;
}

interface Fault {
  /** What is wrong: `tools/list fails`. */
  readonly what: string;
  /** The checks that are about it, the most specific first. */
  readonly about: readonly string[];
  /** Whether the fault explains a failed check. */
  readonly explains: (finding: Finding, chief: Finding) => boolean;
}

function faultsOf(facts: readonly Facts[]): readonly Fault[] {
  const methods = new Set(facts.flatMap(({ failedLists }) => failedLists.map(({ method }) => method)));
  const loose = new Set(facts.filter(({ hasLooseErrors }) => hasLooseErrors).map(({ era }) => era));
  return [
    ...[...methods].map((method) => failedList(method, facts)),
    ...(loose.size > 0 ? [looseErrors(loose)] : []),
    IMPURE,
  ];
}

function failedList(method: string, facts: readonly Facts[]): Fault {
  const said = new Map<Era | undefined, string>(
    facts.flatMap(({ era, failedLists }) =>
      failedLists.filter((list) => list.method === method).map((list) => [era, list.said] as const),
    ),
  );
  const any = [...said.values()][0]!;
  return {
    what: `${method} fails (${any})`,
    about: [
      `${method.replace('/list', '')}/list-answered`,
      `capabilities/${method.split('/')[0]}-answered`,
      'capabilities/templates-answered',
      'capabilities/legacy-lists-answered',
    ],
    explains: ({ seen, era }) => {
      const failure = era === undefined ? any : said.get(era);
      return failure !== undefined && seen.includes(method) && tellsOf(seen, failure);
    },
  };
}

/** Checks word the same error, and silence, in different ways. */
function tellsOf(seen: string, failure: string): boolean {
  const code = /^error (\S+?):/.exec(failure)?.[1];
  return code === undefined
    ? /no answer|not answered|nothing|answered 0 times/.test(seen)
    : seen.includes(`error ${code}`);
}

function looseErrors(eras: ReadonlySet<Era>): Fault {
  return {
    what: 'errors come without the id of their request',
    about: ['envelope/error-has-id', 'ids/every-method', 'http-status/refusal-names-request'],
    explains: ({ seen, era }) =>
      (era === undefined || eras.has(era)) && /answered under (null|no id)|"id":null,"error"/.test(seen),
  };
}

/** The same line on stdout, seen by several checks. */
const IMPURE: Fault = {
  what: 'the stream has output other than messages',
  about: ['stream/only-messages', 'lifetime/stdout-is-pure', 'stream/only-messages-under-stress'],
  explains: (finding, chief) =>
    finding.seen.startsWith('it wrote ') && likeness(chief).startsWith(likeness(finding)),
};

function group(findings: readonly Finding[], fault: Fault): Finding[] {
  const chief = fault.about
    .map((id) => findings.find((finding) => finding.id === id && isBroken(finding)))
    .find((finding) => finding !== undefined);
  if (!chief) return [...findings];
  const isConsequence = (finding: Finding) =>
    finding !== chief &&
    isBroken(finding) &&
    (fault.explains(finding, chief) ||
      (fault.about.includes(finding.id) && likeness(finding) === likeness(chief)));
  const names = findings.filter(isConsequence).map(nameOf);
  if (names.length === 0) return [...findings];
  return findings.map((finding) => {
    if (finding === chief) return { ...finding, consequences: [...(finding.consequences ?? []), ...names] };
    if (!isConsequence(finding)) return finding;
    const seen = `not judged separately: ${fault.what}; see ${nameOf(chief)}. Seen: ${finding.seen}`;
    return { ...finding, outcome: 'skip' as const, seen, causedBy: nameOf(chief) };
  });
}

function isBroken({ outcome, causedBy }: Finding): boolean {
  return (outcome === 'fail' || outcome === 'warn' || outcome === 'error') && causedBy === undefined;
}

/** What was seen, without numbers: process ids and times differ each time. */
function likeness({ seen }: Finding): string {
  return seen.replace(/\d+/g, '#');
}

function nameOf({ id, era }: Finding): string {
  return era === undefined ? id : `${id} (${era})`;
}

import type { Era, Finding } from '../model.js';
import type { Facts } from '../survey/facts.js';
import type { FailureCause } from './failure-cause.js';

/** A finding, and the cause of its failure if the check knows it. */
export interface JudgedCheck {
  readonly finding: Finding;
  readonly cause?: FailureCause;
}

/**
 * One fault may fail many checks. Checks that failed only because of it become `skip`, with a reference to the finding about
 * the fault, and that finding lists them. So a fault counts once in the grade, for all eras together.
 */
export function groupFindings(judged: readonly JudgedCheck[], facts: readonly Facts[]): Finding[] {
  let grouped = [...judged];
  for (const fault of faultsOf(facts)) grouped = group(grouped, fault);
  return grouped.map(({ finding }) => finding);
}

interface Fault {
  /** What is wrong: `tools/list fails`. */
  readonly what: string;
  /** The checks that are about it, the most specific first. */
  readonly about: readonly string[];
  /** Whether the fault is this cause of a failure. `chief` is the cause of the finding about the fault. */
  readonly explains: (cause: FailureCause, era: Era | undefined, chief: FailureCause | undefined) => boolean;
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
  const failures = new Map(
    facts.flatMap(({ era, failedLists }) =>
      failedLists.filter((list) => list.method === method).map((list) => [era, list] as const),
    ),
  );
  const any = [...failures.values()][0]!;
  return {
    what: `${method} fails (${any.said})`,
    about: [
      `${method.replace('/list', '')}/list-answered`,
      `capabilities/${method.split('/')[0]}-answered`,
      'capabilities/templates-answered',
      'capabilities/legacy-lists-answered',
    ],
    explains: (cause, era) => {
      const failure = era === undefined ? any : failures.get(era);
      return (
        failure !== undefined &&
        cause.kind === 'no-result' &&
        cause.method === method &&
        Object.is(cause.code, failure.code)
      );
    },
  };
}

function looseErrors(eras: ReadonlySet<Era>): Fault {
  return {
    what: 'errors come without the id of their request',
    about: ['envelope/error-has-id', 'ids/every-method', 'http-status/refusal-names-request'],
    explains: ({ kind }, era) => (era === undefined || eras.has(era)) && kind === 'error-without-id',
  };
}

const IMPURE: Fault = {
  what: 'the stream has output other than messages',
  about: ['stream/only-messages', 'lifetime/stdout-is-pure', 'stream/only-messages-under-stress'],
  // Another line may have another reason.
  explains: (cause, _, chief) => cause.kind === 'not-a-message' && isSameCause(cause, chief),
};

function group(judged: readonly JudgedCheck[], fault: Fault): JudgedCheck[] {
  const chief = fault.about
    .map((id) => judged.find((each) => each.finding.id === id && isBroken(each.finding)))
    .find((each) => each !== undefined);
  if (!chief) return [...judged];
  const isConsequence = (each: JudgedCheck) =>
    each !== chief &&
    isBroken(each.finding) &&
    each.cause !== undefined &&
    (fault.explains(each.cause, each.finding.era, chief.cause) ||
      (fault.about.includes(each.finding.id) && isSameCause(each.cause, chief.cause)));
  const names = judged.filter(isConsequence).map(({ finding }) => nameOf(finding));
  if (names.length === 0) return [...judged];
  return judged.map((each) => {
    const { finding, cause } = each;
    if (each === chief) {
      const consequences = [...(finding.consequences ?? []), ...names];
      return { finding: { ...finding, consequences }, ...(cause && { cause }) };
    }
    if (!isConsequence(each)) return each;
    const seen = `not judged separately: ${fault.what}; see ${nameOf(chief.finding)}. Seen: ${finding.seen}`;
    return { finding: { ...finding, outcome: 'skip' as const, seen, causedBy: nameOf(chief.finding) } };
  });
}

function isBroken({ outcome, causedBy }: Finding): boolean {
  return (outcome === 'fail' || outcome === 'warn' || outcome === 'error') && causedBy === undefined;
}

/** Numbers in output do not count: process ids and times differ each time. */
function isSameCause(one: FailureCause, other: FailureCause | undefined): boolean {
  if (one.kind !== other?.kind) return false;
  if (one.kind === 'not-a-message' && other.kind === 'not-a-message')
    return withoutNumbers(one.text) === withoutNumbers(other.text);
  if (one.kind === 'no-result' && other.kind === 'no-result')
    return one.method === other.method && Object.is(one.code, other.code);
  return true;
}

function withoutNumbers(text: string): string {
  return text.replace(/\d+/g, '#');
}

function nameOf({ id, era }: Finding): string {
  return era === undefined ? id : `${id} (${era})`;
}

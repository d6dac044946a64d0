import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import type { Service } from '@isthmus/sdk/internal/exchange/call.js';
import type { ChildOptions } from '@isthmus/sdk/internal/process/spawn-child.js';
import type { Finding, Report, WireLine } from '../model.js';
import { ARROWS, cleanLine, shortened } from '../report/plain-text.js';
import { WORDS } from '../report/standing.js';
import { type CheckOptions, checkServer } from '../run/check-server.js';
import { type FailOn, verdictOf } from '../run/grade.js';
import { type CheckTarget, commandTarget, httpTarget, serverTarget, socketTarget } from '../wire/targets.js';

export interface SoundOptions extends CheckOptions {
  /** The least that is not sound: a broken `MUST`, or also a broken `SHOULD`. Default `must`. */
  readonly failOn?: FailOn;
}

/**
 * Judges a server in a test of any kind, and gives the report when it is sound.
 *
 * ```ts
 * test('the server is sound', () => assertSound({ command: 'node', args: ['server.js'] }), 120_000);
 * ```
 *
 * @throws NotSound whose message lists every check that does not hold: its rule, what was seen, what was expected, and
 * how to mend it. `IsthmusError` where there is nothing to judge: the server cannot be reached, or speaks no MCP.
 */
export async function assertSound(subject: SubjectOrLater, options: SoundOptions = {}): Promise<Report> {
  const { failOn = 'must', ...run } = options;
  const report = await judge(subject, run);
  const { passed, reasons } = verdictOf(report, failOn);
  if (passed) return report;
  const { target, findings, stale, grade, seed } = report;
  const parts = [
    `${cleanLine(target.label)} is not sound: ${reasons.join(', ')} (grade ${grade.letter}, seed ${seed})`,
    describeAll(findings.filter((finding) => isBroken(finding, failOn))),
    stale.map((entry) => `✗ in the baseline: ${cleanLine(entry)}`).join('\n'),
  ];
  throw new NotSound(parts.filter((part) => part !== '').join('\n\n'), report);
}

/** What a failed run throws: the message has every broken check, and `report` has the rest. */
export class NotSound extends Error {
  override readonly name = 'NotSound';
  readonly report: Report;

  constructor(message: string, report: Report) {
    super(message);
    this.report = report;
  }
}

/** Whether a finding fails the run. */
export function isBroken({ outcome, accepted }: Finding, failOn: FailOn): boolean {
  if (accepted) return false;
  return outcome === 'fail' || outcome === 'error' || (outcome === 'warn' && failOn === 'should');
}

/** Findings for a test's log, a paragraph each; what is the same in both eras is told once. */
export function describeAll(findings: readonly Finding[]): string {
  const groups = new Map<string, Finding[]>();
  for (const finding of findings) {
    const { id, outcome, seen, expected } = finding;
    const key = JSON.stringify([id, outcome, seen, expected]);
    groups.set(key, [...(groups.get(key) ?? []), finding]);
  }
  return [...groups.values()].map((same) => describe(same[0]!, erasOf(same))).join('\n\n');
}

function erasOf(findings: readonly Finding[]): string {
  const eras = findings.flatMap(({ era }) => era ?? []);
  return eras.length === 0 ? '' : ` (${eras.join(', ')})`;
}

/** What is wrong, which rule says so, and how to mend it: what a person needs who sees only the log of a test. */
function describe(finding: Finding, eras: string): string {
  const { id, title, level, rules, reason, outcome, seen, expected, hint, input, wire } = finding;
  const rows: readonly (readonly [string, string])[] = [
    ['check', id],
    ['rule', rules.length > 0 ? `${rules.join(', ')} (${level})` : `none (${level}): ${reason ?? ''}`],
    ['seen', seen],
    ['expected', expected],
    ['fix', hint],
    ['input', input ?? ''],
  ];
  return [
    `${WORDS[outcome].sign} ${cleanLine(title)}${eras}`,
    ...rows
      .filter(([, text]) => text !== '')
      .map(([name, text]) => `  ${name.padEnd(8)}  ${shortened(cleanLine(text), MAX_TEXT)}`),
    ...wire.slice(-MAX_WIRE).map(describeLine),
  ].join('\n');
}

function describeLine({ from, text }: WireLine): string {
  return `  ${'wire'.padEnd(8)}  ${ARROWS[from]} ${shortened(cleanLine(text), MAX_LINE)}`;
}

const MAX_TEXT = 1000;
const MAX_LINE = 200;
const MAX_WIRE = 4;

/** Runs the checks. Where there is nothing to judge, the message has the evidence: logs of tests show nothing else. */
export async function judge(subject: SubjectOrLater, options: CheckOptions): Promise<Report> {
  const target = await toTarget(subject);
  try {
    return await checkServer(target, options);
  } catch (error) {
    if (!(error instanceof IsthmusError) || !error.evidence?.length) throw error;
    const { code, message, evidence } = error;
    const lines = evidence.map((line) => `  ${shortened(cleanLine(line), 1000)}`);
    throw new IsthmusError(code, [message, ...lines].join('\n'), { cause: error, evidence });
  }
}

/** Whom to judge, as it is written in a test. */
export type Subject =
  /** Started anew for every connection. It gets a clean environment: `env` adds to it, `inheritEnv: 'all'` passes on yours. */
  | (Pick<ChildOptions, 'command' | 'args' | 'cwd' | 'env' | 'inheritEnv'> & { readonly label?: string })
  | {
      readonly url: string | URL;
      readonly headers?: Readonly<Record<string, string>>;
      readonly label?: string;
    }
  /** `unix:PATH` or `tcp://HOST:PORT`. */
  | { readonly address: string }
  /** A server object of this process, served in memory. */
  | { readonly server: Service; readonly label?: string }
  | CheckTarget;

/** The subject, or a function that gives it when the tests run: a port is known only then. */
export type SubjectOrLater = Subject | (() => Subject | Promise<Subject>);

export async function toTarget(subject: SubjectOrLater): Promise<CheckTarget> {
  const given = typeof subject === 'function' ? await subject() : subject;
  if ('transport' in given) return given;
  if ('server' in given)
    return serverTarget(given.server, given.label === undefined ? {} : { label: given.label });
  if ('url' in given) return httpTarget(given.url, given);
  if ('command' in given) return commandTarget(given);
  if ('address' in given) return socketTarget(given.address);
  throw new IsthmusError('INVALID_OPTION', `Whom to judge? ${WANTED}`);
}

const WANTED = 'Give { command, args }, { url }, { address }, { server } or a target';

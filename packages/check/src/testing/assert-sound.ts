import { checkedOptions, kindOf, type OptionNames } from '@isthmus/sdk/internal/arguments.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import type { Service } from '@isthmus/sdk/internal/exchange/call.js';
import type { ChildOptions } from '@isthmus/sdk/internal/process/spawn-child.js';
import type { Finding, Report, WireLine } from '../model.js';
import { ARROWS, cleanLine, shortened } from '../report/plain-text.js';
import { WORDS } from '../report/standing.js';
import { type CheckOptions, checkServer } from '../run/check-server.js';
import { type FailOn, verdictOf } from '../run/grade.js';
import { type CheckTarget, commandTarget, httpTarget, serverTarget, socketTarget } from '../wire/targets.js';

/** Options of `assertSound`. */
export interface SoundOptions extends CheckOptions {
  /** What fails: only a broken `MUST`, or also a broken `SHOULD`. Default `must`. */
  readonly failOn?: FailOn;
}

/**
 * Checks a server in a test, and returns the report when it passes.
 *
 * @example
 * ```ts
 * import { assertSound } from '@isthmus/check';
 *
 * const report = await assertSound({ command: 'node', args: ['server.js'] }, { suites: ['tools'] });
 * console.log(report.grade.letter); // prints: A+
 * ```
 *
 * @throws NotSound whose message lists every failed check: its rule, what was seen, what was expected, and how to fix it.
 * `IsthmusError` if the server cannot be checked: it cannot be reached, or does not speak MCP.
 */
export async function assertSound(subject: SubjectOrLater, options: SoundOptions = {}): Promise<Report> {
  const { failOn = 'must', ...run } = checkedOptions('assertSound', options, SOUND_OPTIONS);
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

const SOUND_OPTIONS: OptionNames<SoundOptions> = {
  failOn: true,
  only: true,
  skip: true,
  suites: true,
  eras: true,
  callTools: true,
  noTools: true,
  allow: true,
  args: true,
  visit: true,
  seed: true,
  fuzzRuns: true,
  patience: true,
  tokens: true,
  inTurn: true,
  concurrency: true,
  baseline: true,
  onFinding: true,
  signal: true,
  clock: true,
  version: true,
  checks: true,
};

/** Thrown by a failed run. The message has every failed check, and `report` has everything. */
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

/** Findings for the log of a test, a paragraph each. The same finding in both eras is shown once. */
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

/** What is wrong, the rule, and how to fix it. The log of a test shows nothing else. */
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

/** Runs the checks. An error's message gets its evidence, since the log of a test shows only the message. */
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

/** The server to check, as a test describes it. */
export type Subject =
  /** Started for every connection, with a minimal environment: `env` adds to it, `inheritEnv: 'all'` passes on yours. */
  | (Pick<ChildOptions, 'command' | 'args' | 'cwd' | 'env' | 'inheritEnv'> & { readonly label?: string })
  | {
      readonly url: string | URL;
      readonly headers?: Readonly<Record<string, string>>;
      readonly label?: string;
    }
  /** `unix:PATH` or `tcp://HOST:PORT`. */
  | { readonly address: string }
  /** A server object in this process, served in memory. */
  | { readonly server: Service; readonly label?: string }
  | CheckTarget;

/** The subject, or a function that returns it when the tests run, for example when the port is known. */
export type SubjectOrLater = Subject | (() => Subject | Promise<Subject>);

export async function toTarget(subject: SubjectOrLater): Promise<CheckTarget> {
  const given = typeof subject === 'function' ? await subject() : subject;
  if (typeof given === 'string') {
    const form = /^https?:/i.test(given) ? '{ url }' : '{ command, args }';
    throw new IsthmusError('INVALID_OPTION', `The server must be an object, got a string. Write ${form}`);
  }
  if (typeof given !== 'object' || given === null) {
    throw new IsthmusError('INVALID_OPTION', `No server given, got ${kindOf(given)}. ${WANTED}`);
  }
  if (typeof (given as { handle?: unknown }).handle === 'function') {
    throw new IsthmusError('INVALID_OPTION', 'Pass a server object as { server }');
  }
  if ('transport' in given) return given;
  if ('server' in given)
    return serverTarget(given.server, given.label === undefined ? {} : { label: given.label });
  if ('url' in given) return httpTarget(given.url, given);
  if ('command' in given) return commandTarget(given);
  if ('address' in given) return socketTarget(given.address);
  throw new IsthmusError('INVALID_OPTION', `No server given. ${WANTED}`);
}

const WANTED = 'Give { command, args }, { url }, { address }, { server } or a target';

import { describe, expect, it } from 'vitest';
import type { Finding } from '../../src/model.js';
import type { FailureCause } from '../../src/run/failure-cause.js';
import { groupFindings, type JudgedCheck } from '../../src/run/group-findings.js';
import { aFinding } from '../support/report/sample-report.js';
import { aServer } from '../support/sample-facts.js';

describe('groupFindings', () => {
  it('groups the failures of one list method with the finding about the list', () => {
    const facts = [listFails({ code: -32603, said: 'error -32603: broken' })];
    const judged = [
      failed('tools/list-answered', noResult('tools/list', -32603)),
      failed('pages/end', noResult('tools/list', -32603)),
      failed('other/code', noResult('tools/list', -32602)),
      failed('other/silence', noResult('tools/list')),
      failed('other/method', noResult('prompts/list', -32603)),
      failed('other/no-cause'),
    ];
    const grouped = groupFindings(judged, facts);
    expect(consequences(grouped)).toEqual({ 'tools/list-answered': ['pages/end (legacy)'] });
    expect(grouped[1]).toMatchObject({
      outcome: 'skip',
      causedBy: 'tools/list-answered (legacy)',
      seen: 'not judged separately: tools/list fails (error -32603: broken); see tools/list-answered (legacy). Seen: it failed',
    });
  });

  it('groups missing answers of a list method that the survey got no answer from', () => {
    const facts = [listFails({ said: 'no answer within 5000 ms' })];
    const judged = [
      failed('tools/list-answered', noResult('tools/list')),
      failed('pages/end', noResult('tools/list')),
      failed('other/code', noResult('tools/list', -32603)),
    ];
    expect(consequences(groupFindings(judged, facts))).toEqual({
      'tools/list-answered': ['pages/end (legacy)'],
    });
  });

  it('groups errors without ids only in an era in which the server loses ids', () => {
    const facts = [aServer({ era: 'modern', hasLooseErrors: true }), aServer()];
    const judged = [
      failed('envelope/error-has-id', { kind: 'error-without-id' }, { era: 'modern' }),
      failed('ids/zero', { kind: 'error-without-id' }, { era: 'modern' }),
      failed('ids/zero', { kind: 'error-without-id' }),
    ];
    expect(consequences(groupFindings(judged, facts))).toEqual({
      'envelope/error-has-id': ['ids/zero (modern)'],
    });
  });

  it('groups the same line on stdout, whatever numbers are in it', () => {
    const judged = [
      failed('stream/only-messages', { kind: 'not-a-message', text: 'ready, pid 17' }),
      failed('end-of-input/half-line', { kind: 'not-a-message', text: 'ready, pid 4711' }),
      failed('lifetime/stdout-is-pure', { kind: 'not-a-message', text: 'Goodbye!' }),
    ];
    expect(consequences(groupFindings(judged, [aServer()]))).toEqual({
      'stream/only-messages': ['end-of-input/half-line (legacy)'],
    });
  });

  it('does not read the sentences: other words give the same groups', () => {
    const facts = [{ ...listFails({ code: -32603, said: 'error -32603: broken' }), hasLooseErrors: true }];
    const judgedWith = (seen: (at: number) => string) =>
      [
        failed('tools/list-answered', noResult('tools/list', -32603)),
        failed('pages/end', noResult('tools/list', -32603)),
        failed('envelope/error-has-id', { kind: 'error-without-id' }),
        failed('ids/every-method', { kind: 'error-without-id' }),
        failed('stream/only-messages', { kind: 'not-a-message', text: 'hello' }),
        failed('lifetime/stdout-is-pure', { kind: 'not-a-message', text: 'hello' }),
        failed('other/no-cause'),
      ].map(({ finding, ...rest }, at) => ({ ...rest, finding: { ...finding, seen: seen(at) } }));
    const expected = {
      'tools/list-answered': ['pages/end (legacy)'],
      'envelope/error-has-id': ['ids/every-method (legacy)'],
      'stream/only-messages': ['lifetime/stdout-is-pure (legacy)'],
    };
    expect(consequences(groupFindings(judgedWith(String), facts))).toEqual(expected);
    const allWords = 'it wrote nothing: tools/list had error -32603 and was answered under null';
    expect(
      consequences(
        groupFindings(
          judgedWith(() => allWords),
          facts,
        ),
      ),
    ).toEqual(expected);
  });

  it('leaves the cause out of the findings', () => {
    const [finding] = groupFindings([failed('pages/end', noResult('tools/list'))], [aServer()]);
    expect(Object.keys(finding!)).not.toContain('cause');
  });
});

function failed(id: string, cause?: FailureCause, given: Partial<Finding> = {}): JudgedCheck {
  const finding = aFinding({ id, outcome: 'fail', seen: 'it failed', ...given });
  return { finding, ...(cause && { cause }) };
}

function noResult(method: string, code?: number): FailureCause {
  return { kind: 'no-result', method, ...(code !== undefined && { code }) };
}

function listFails(how: { readonly code?: number; readonly said: string }) {
  return aServer({ failedLists: [{ method: 'tools/list', ...how }] });
}

function consequences(findings: readonly Finding[]): Record<string, readonly string[]> {
  return Object.fromEntries(
    findings.flatMap(({ id, consequences: names }) => (names ? [[id, names] as const] : [])),
  );
}

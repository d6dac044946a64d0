import { CLIENT_CHECKS } from '@isthmus/check/internal/client/catalogue.js';
import type { WireLine } from '@isthmus/check/internal/model.js';
import { toHtml } from '@isthmus/check/internal/report/html/page.js';
import { toJson } from '@isthmus/check/internal/report/json.js';
import { describeFinding } from '@isthmus/check/internal/report/plain-text.js';
import { toSarif } from '@isthmus/check/internal/report/sarif.js';
import { cite, RULES } from '@isthmus/check/internal/rules/index.js';
import { gradeOf } from '@isthmus/check/internal/run/grade.js';
import { CHECKS } from '@isthmus/check/internal/suites/index.js';
import { compare } from '@isthmus/check/internal/through/compare.js';
import { excerptOf, KEPT } from '@isthmus/check/internal/wire/excerpt.js';
import { renderCatalogue } from 'isthmus/internal/check/render-catalogue.js';
import { createStyle } from 'isthmus/internal/terminal/terminal.js';
import { describe, expect, it } from 'vitest';
import { aFinding, aReport } from '../../packages/check/test/support/report/sample-report.js';
import { aFrame, aServer, aStop, judged } from '../../packages/check/test/support/sample-facts.js';

describe('C7: --through', () => {
  it('C7: shows an error as an error, not as members that are missing', () => {
    const direct = aServer({ era: 'modern', walkthrough: [aStop({ resultType: 'complete', content: [] })] });
    const failed = {
      ...aStop(),
      reply: {
        kind: 'error' as const,
        error: { code: -32603, message: 'broken pipe' },
        frame: aFrame('', {}),
        id: 1,
        method: 'tools/call',
        notifications: [],
        ms: 1,
      },
    };
    const through = aServer({ era: 'modern', walkthrough: [failed] });
    const found = compare(judged([direct]), [direct], judged([through]));
    expect(found.map(({ kind, direct: was, through: is }) => ({ kind, was, is }))).toEqual([
      {
        kind: 'worse',
        was: 'the result {"content":[],"resultType":"complete"}',
        is: 'error -32603: broken pipe',
      },
    ]);
  });
});

describe('C7: a rule that is cited', () => {
  it('C7: has a sentence and an address, for every rule that a check cites', () => {
    const ids = new Set([...CHECKS, ...CLIENT_CHECKS].flatMap(({ rules }) => rules));
    expect(ids.size).toBeGreaterThan(200);
    const cited = cite([...ids]);
    expect(cited).toHaveLength(ids.size);
    expect(cited.filter(({ says, url }) => says === '' || !/^https:\/\/[\w./-]+$/.test(url ?? ''))).toEqual(
      [],
    );
    expect([...RULES.keys()].length).toBeGreaterThanOrEqual(cited.length);
  });

  it('C7: is told in the text of a finding, in JSON, in HTML, and by helpUri in SARIF', () => {
    const url = 'https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/ping';
    const report = aReport({ findings: [aFinding({ outcome: 'fail', rules: ['PING-001'] })] });
    const says = RULES.get('PING-001')!.rule;
    expect(describeFinding(report.findings[0]!)).toContain(`PING-001 (MUST): ${says} ${url}`);
    expect(JSON.parse(toJson(report)).rules).toEqual({ 'PING-001': { level: 'MUST', says, url } });
    expect(toHtml(report)).toContain(`<a href="${url}">PING-001</a>`);
    expect(JSON.parse(toSarif(report)).runs[0].tool.driver.rules[0].helpUri).toBe(url);
  });
});

describe('C7: the wire of a finding', () => {
  const line = (at: number, text = `{"at":${at}}`): WireLine => ({ from: 'server', atMs: at, text });

  it('C7: is whole when it is short of its bound', () => {
    const lines = Array.from({ length: 300 }, (_, at) => line(at));
    expect(excerptOf(lines, KEPT)).toEqual(lines);
  });

  it('C7: has the beginning, the errors and the end, within its bound in bytes', () => {
    const lines = Array.from({ length: 1000 }, (_, at) =>
      line(at, at === 400 ? '{"error":{"code":-32603}}' : `{"text":"${'x'.repeat(5000)}","at":${at}}`),
    );
    const kept = excerptOf(lines, KEPT);
    expect(kept[0]).toBe(lines[0]);
    expect(kept.at(-1)).toBe(lines.at(-1));
    expect(kept).toContain(lines[400]);
    expect(kept.some(({ text }) => /^… \d+ lines are left out$/.test(text))).toBe(true);
    const bytes = kept.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
    expect(bytes).toBeLessThan(66 * 1024);
  });

  it('C7: cuts a line that is longer than all the others together', () => {
    const [kept] = excerptOf([line(0, 'x'.repeat(5_000_000))], KEPT);
    expect(kept!.text).toMatch(/^x{8000}… \(5000000 characters\)$/);
  });
});

describe('C7: a check without a rule', () => {
  it('C7: is a SHOULD, never a MUST', () => {
    const bold = [...CHECKS, ...CLIENT_CHECKS].filter(
      ({ rules, level }) => rules.length === 0 && level === 'MUST',
    );
    expect(bold.map(({ id }) => id)).toEqual([]);
  });

  it('C7: is marked as an opinion wherever it is shown', () => {
    const finding = aFinding({ outcome: 'warn', level: 'SHOULD', rules: [], reason: 'Models read it.' });
    const report = aReport({ findings: [finding] });
    expect(describeFinding(finding)).toContain('an opinion of isthmus: the specification has no rule for it');
    expect(JSON.parse(toJson(report)).findings[0].opinion).toBe(true);
    expect(toHtml(report)).toContain('SHOULD (opinion)');
    const [rule] = JSON.parse(toSarif(report)).runs[0].tool.driver.rules;
    expect(rule.properties.tags).toContain('opinion');
    const list = renderCatalogue(CHECKS, false, { out: createStyle(false, {}) });
    expect(list).toMatch(/tools\/described +SHOULD \(opinion\) /);
  });

  it('C7: is named apart in the grade that it costs', () => {
    const finding = aFinding({ outcome: 'warn', level: 'SHOULD', rules: [], reason: 'Models read it.' });
    expect(gradeOf([aFinding(), finding])).toMatchObject({
      letter: 'A',
      why: 'All 1 MUST that apply hold; 1 of 1 SHOULD does not (1 of them an opinion without a rule), and A+ needs all of them.',
    });
  });
});

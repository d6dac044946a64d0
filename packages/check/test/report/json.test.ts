import { describe, expect, it } from 'vitest';
import { toJson } from '../../src/report/json.js';
import { hostileReport } from '../support/report/hostile-report.js';
import { aFinding, aReport } from '../support/report/sample-report.js';

describe('the JSON report', () => {
  it('is the report, its format and the verdict', () => {
    const report = aReport();
    const { rules, ...rest } = JSON.parse(toJson(report));
    expect(rest).toEqual(
      JSON.parse(
        JSON.stringify({
          format: 1,
          verdict: {
            passed: false,
            failOn: 'must',
            reasons: ['1 MUST is broken', '1 check could not be finished'],
          },
          ...report,
          findings: report.findings.map((finding) =>
            finding.rules.length === 0 ? { ...finding, opinion: true } : finding,
          ),
        }),
      ),
    );
    expect(rules['STDIO-009']).toEqual({
      level: 'MUST NOT',
      says: 'The client writes no JSON-RPC responses to stdin in the modern era.',
      url: 'https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio',
    });
  });

  it('has the verdict that was asked for', () => {
    const report = aReport({ findings: [aFinding(), aFinding({ level: 'SHOULD', outcome: 'warn' })] });
    expect(JSON.parse(toJson(report)).verdict).toEqual({ passed: true, failOn: 'must', reasons: [] });
    expect(JSON.parse(toJson(report, { failOn: 'should' })).verdict).toEqual({
      passed: false,
      failOn: 'should',
      reasons: ['1 SHOULD is broken'],
    });
  });

  it('keeps every character, and is harmless on a terminal', () => {
    const report = hostileReport();
    const text = toJson(report);
    expect(JSON.parse(text).findings[0].wire).toEqual(report.findings[0]?.wire);
    expect(text).not.toMatch(/[^\P{Cc}\n]|[\u200b\u202e\u2066]/u);
  });
});

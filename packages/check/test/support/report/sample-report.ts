import type { Finding, Report } from '../../../src/model.js';
import { countsOf, gradeOf } from '../../../src/run/grade.js';

/** A finding that passes, but for what is given. */
export function aFinding(given: Partial<Finding> = {}): Finding {
  return {
    id: 'ping/answers',
    suite: 'protocol',
    title: 'Answers ping with an empty result',
    level: 'MUST',
    rules: ['PING-001'],
    era: 'legacy',
    outcome: 'pass',
    seen: 'an empty result after 2 ms',
    expected: '',
    wire: [],
    hint: 'Answer ping at once, with {}.',
    ms: 2,
    ...given,
  };
}

/** A report whose counts and grade follow from its findings. */
export function aReport(given: Partial<Report> = {}): Report {
  const findings = given.findings ?? sampleFindings();
  return {
    target: { label: 'node weather.js', transport: 'command' },
    eras: [
      {
        era: 'modern',
        revision: '2026-07-28',
        server: { name: 'weather', version: '1.4.0' },
        capabilities: ['tools', 'resources'],
        tools: 7,
        resources: 2,
        prompts: 0,
      },
      {
        era: 'legacy',
        revision: '2025-11-25',
        server: { name: 'weather', version: '1.4.0' },
        capabilities: ['tools', 'resources', 'logging'],
        tools: 7,
        resources: 2,
        prompts: 0,
      },
    ],
    findings,
    counts: countsOf(findings),
    grade: gradeOf(findings),
    stale: [],
    seed: 42,
    started: '2026-03-01T09:30:00.000Z',
    ms: 12_345,
    version: '0.1.0',
    ...given,
  };
}

/** One of each outcome, and the shapes that they have. */
export function sampleFindings(): Finding[] {
  return [
    aFinding(),
    aFinding({
      era: 'modern',
      id: 'discover/names-versions',
      title: 'Names the versions it supports in server/discover',
      rules: ['DISC-003'],
      seen: '2026-07-28',
    }),
    aFinding({
      id: 'stdio/answers-what-is-not-json',
      suite: 'resilience',
      era: 'modern',
      title: 'Answers a line that is not JSON with -32700',
      rules: ['JRPC-014', 'STDIO-009'],
      outcome: 'fail',
      seen: 'The process ended with exit code 1, 8 ms after the line.',
      expected: 'An error -32700 without an id, and a server that lives on.',
      hint: 'Catch the error of JSON.parse, answer with -32700, and read on.',
      wire: [
        { from: 'note', atMs: 0, text: 'started: node weather.js' },
        { from: 'check', atMs: 12, text: '{"jsonrpc":"2.0","id":1,' },
        { from: 'server', atMs: 20, text: 'exit code 1' },
      ],
      input: '{"jsonrpc":"2.0","id":1,',
      ms: 31,
    }),
    aFinding({
      id: 'tools/describes-every-tool',
      suite: 'tools',
      era: 'legacy',
      title: 'Describes every tool',
      level: 'SHOULD',
      rules: [],
      reason: 'A model chooses by the description alone.',
      outcome: 'warn',
      seen: 'The tool "get_forecast" has none.',
      expected: 'A description of at least a few words.',
      hint: 'Say in a sentence what the tool does and when to use it.',
      ms: 1,
    }),
    aFinding({
      id: 'tools/input-schema-is-valid',
      suite: 'tools',
      era: 'modern',
      title: 'Has valid input schemas',
      rules: ['TOOL-011'],
      outcome: 'fail',
      accepted: true,
      seen: 'The schema of "get_alerts" has "type": "strng".',
      expected: 'JSON Schema 2020-12.',
      hint: 'Correct the schema.',
    }),
    aFinding({
      id: 'http/refuses-foreign-origins',
      suite: 'http',
      era: undefined,
      title: 'Refuses requests of foreign origins with 403',
      rules: ['HTTP-004'],
      outcome: 'skip',
      seen: 'it is not reached over HTTP',
      ms: 0,
    }),
    aFinding({
      id: 'http/answers-get-with-405',
      suite: 'http',
      era: undefined,
      title: 'Answers GET with a stream or with 405',
      rules: ['HTTP-020'],
      outcome: 'skip',
      seen: 'it is not reached over HTTP',
      ms: 0,
    }),
    aFinding({
      id: 'lifetime/ends-on-sigterm',
      suite: 'lifetime',
      era: undefined,
      title: 'Ends on SIGTERM',
      level: 'SHOULD',
      rules: ['STDIO-021'],
      outcome: 'error',
      seen: 'spawn EAGAIN',
      expected: '',
      hint: 'End within two seconds of SIGTERM.',
    }),
  ];
}

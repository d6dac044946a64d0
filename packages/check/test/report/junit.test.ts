import { describe, expect, it } from 'vitest';
import { toJunit } from '../../src/report/junit.js';
import { hostileReport } from '../support/report/hostile-report.js';
import { type Element, parseXml } from '../support/report/parse-xml.js';
import { aFinding, aReport } from '../support/report/sample-report.js';

describe('the JUnit report', () => {
  it('has a suite for each suite, and the counts of its cases', () => {
    const { name, attributes, children } = parseXml(toJunit(aReport()));
    expect(name).toBe('testsuites');
    expect(attributes).toEqual({
      name: 'isthmus check node weather.js',
      tests: '8',
      failures: '1',
      errors: '1',
      skipped: '3',
      time: '12.345',
    });
    expect(children.map((suite) => Object.values(suite.attributes).slice(0, 5).join(' '))).toEqual([
      'protocol 2 0 0 0',
      'resilience 1 1 0 0',
      'lifetime 1 0 1 0',
      'http 2 0 0 2',
      'tools 2 0 0 1',
    ]);
    expect(children[0]?.attributes['timestamp']).toBe('2026-03-01T09:30:00');
    expect(
      children[0]?.children[0]?.children.map(({ attributes: { name, value } }) => `${name}=${value}`),
    ).toEqual(['target=node weather.js', 'transport=command', 'grade=F', 'seed=42', 'version=0.1.0']);
  });

  it('tells of a failure what was seen, expected, sent and how to fix it', () => {
    const failed = caseNamed('stdio/answers-what-is-not-json (modern)');
    expect(failed.attributes).toEqual({
      classname: 'isthmus.resilience',
      name: 'stdio/answers-what-is-not-json (modern)',
      time: '0.031',
    });
    expect(failed.children).toEqual([
      {
        name: 'failure',
        attributes: {
          message:
            'Seen: The process ended with exit code 1, 8 ms after the line. Expected: An error -32700 without an id, and a server that lives on.',
          type: 'MUST',
        },
        children: [],
        text: [
          'Answers a line that is not JSON with -32700',
          'Seen: The process ended with exit code 1, 8 ms after the line.',
          'Expected: An error -32700 without an id, and a server that lives on.',
          'Rule: JRPC-014 (MUST NOT): A client never emits JSON-RPC responses on any transport. https://modelcontextprotocol.io/specification/2026-07-28/basic/transports',
          'Rule: STDIO-009 (MUST NOT): The client writes no JSON-RPC responses to stdin in the modern era. https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio',
          'Fix: Catch the error of JSON.parse, answer with -32700, and read on.',
          'Input: {"jsonrpc":"2.0","id":1,',
          'Wire:',
          '  · 0 ms  started: node weather.js',
          '  → 12 ms  {"jsonrpc":"2.0","id":1,',
          '  ← 20 ms  exit code 1',
        ].join('\n'),
      },
    ]);
  });

  it('lets a warning pass with a word about it, and fails it with --fail-on should', () => {
    const name = 'tools/describes-every-tool (legacy)';
    const [passed] = caseNamed(name).children;
    expect([passed?.name, passed?.text.split('\n')[0]]).toEqual([
      'system-out',
      'Warning: Describes every tool',
    ]);
    const [failed] = caseNamed(name, toJunit(aReport(), { failOn: 'should' })).children;
    expect([failed?.name, failed?.attributes['type']]).toEqual(['failure', 'SHOULD']);
  });

  it('skips what does not apply and what is accepted, and says why', () => {
    expect(caseNamed('http/refuses-foreign-origins').children).toEqual([
      {
        name: 'skipped',
        attributes: { message: 'does not apply: it is not reached over HTTP' },
        children: [],
        text: '',
      },
    ]);
    expect(caseNamed('tools/input-schema-is-valid (modern)').children[0]?.attributes['message']).toBe(
      'accepted by the baseline. Seen: The schema of "get_alerts" has "type": "strng". Expected: JSON Schema 2020-12.',
    );
  });

  it('has an error for a check that could not be finished', () => {
    const [error] = caseNamed('lifetime/ends-on-sigterm').children;
    expect([error?.name, error?.attributes]).toEqual([
      'error',
      { message: 'Seen: spawn EAGAIN', type: 'error' },
    ]);
  });

  it('fails for stale entries of the baseline', () => {
    const { children } = parseXml(
      toJunit(aReport({ stale: ['a/b holds now: remove it from the baseline'] })),
    );
    const suite = children.at(-1);
    expect(suite?.attributes['name']).toBe('baseline');
    expect(suite?.attributes['failures']).toBe('1');
    expect(suite?.children.at(-1)?.attributes['name']).toBe('a/b holds now: remove it from the baseline');
  });

  it('fails when nothing applied', () => {
    const report = aReport({ findings: [aFinding({ outcome: 'skip' })] });
    expect(parseXml(toJunit(report)).attributes['failures']).toBe('1');
  });

  it.each([
    ['an ordinary report', aReport()],
    ['an empty report', aReport({ findings: [] })],
    ['a hostile report', hostileReport()],
  ])('keeps to the schema for %s', (_, report) => {
    expect(complaintsAbout(parseXml(toJunit(report)))).toEqual([]);
  });

  it('shows what XML cannot carry, and stays short', () => {
    const text = toJunit(hostileReport());
    expect(text).toContain(
      '‹U+0000›‹U+0001›‹U+0007›‹U+001B›[31m‹U+001B›]0;title‹U+0007›‹U+007F›‹U+009B›31m‹U+FFFE›‹U+FFFF›‹U+D800›',
    );
    expect(text).toContain('‹U+202E›everything is fine‹U+202C›‹U+200B›‹U+2066›');
    expect(text).toContain('more characters; --json has them)');
    expect(text.length).toBeLessThan(200_000);
  });

  it('has the first and the last lines of a long conversation', () => {
    const wire = Array.from({ length: 60 }, (_, at) => ({
      from: 'server' as const,
      atMs: at,
      text: `line ${at}`,
    }));
    const report = aReport({ findings: [aFinding({ outcome: 'fail', wire })] });
    const lines = caseNamed('ping/answers (legacy)', toJunit(report)).children[0]!.text.split('\n');
    expect(lines.slice(-51, -49)).toEqual(['  ← 0 ms  line 0', '  ← 1 ms  line 1']);
    expect(lines).toContain('  · 16 ms  … 10 lines are left out');
    expect(lines.at(-1)).toBe('  ← 59 ms  line 59');
  });
});

function caseNamed(name: string, xml = toJunit(aReport())): Element {
  const found = parseXml(xml)
    .children.flatMap(({ children }) => children)
    .find(({ attributes }) => attributes['name'] === name);
  if (!found) throw new Error(`there is no case ${name}`);
  return found;
}

/** The part of the schema of Jenkins that we use: which elements may be where, with which attributes. */
const SCHEMA: Readonly<Record<string, { inside: string; children: readonly string[]; attributes: RegExp }>> =
  {
    testsuites: {
      inside: '',
      children: ['testsuite'],
      attributes: /^name tests failures errors skipped time$/,
    },
    testsuite: {
      inside: 'testsuites',
      children: ['properties', 'testcase'],
      attributes: /^name tests failures errors skipped time timestamp$/,
    },
    properties: { inside: 'testsuite', children: ['property'], attributes: /^$/ },
    property: { inside: 'properties', children: [], attributes: /^name value$/ },
    testcase: {
      inside: 'testsuite',
      children: ['skipped', 'error', 'failure', 'system-out'],
      attributes: /^classname name time$/,
    },
    skipped: { inside: 'testcase', children: [], attributes: /^message$/ },
    failure: { inside: 'testcase', children: [], attributes: /^message type$/ },
    error: { inside: 'testcase', children: [], attributes: /^message type$/ },
    'system-out': { inside: 'testcase', children: [], attributes: /^$/ },
  };

function complaintsAbout(element: Element, inside = ''): string[] {
  const rule = SCHEMA[element.name];
  if (!rule) return [`${element.name} is unknown`];
  const names = Object.keys(element.attributes).join(' ');
  const { time, tests, timestamp } = element.attributes;
  const cases = element.children.filter(({ name }) => name === 'testcase');
  return [
    ...(rule.inside === inside ? [] : [`${element.name} in ${inside}`]),
    ...(rule.attributes.test(names) ? [] : [`${element.name} has ${names}`]),
    ...(time === undefined || /^\d+\.\d{3}$/.test(time) ? [] : [`time ${time}`]),
    ...(timestamp === undefined || /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/.test(timestamp) ? [] : [timestamp]),
    ...(element.name !== 'testsuite' || tests === String(cases.length) ? [] : [`${tests} tests`]),
    ...(element.name === 'testcase' && element.children.length > 1 ? ['two outcomes'] : []),
    ...element.children
      .filter(({ name }) => !rule.children.includes(name))
      .map(({ name }) => `${name} misplaced`),
    ...element.children.flatMap((child) => complaintsAbout(child, element.name)),
  ];
}

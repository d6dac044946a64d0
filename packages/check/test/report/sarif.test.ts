import { describe, expect, it } from 'vitest';
import { toSarif } from '../../src/report/sarif.js';
import { hostileReport } from '../support/report/hostile-report.js';
import { aReport } from '../support/report/sample-report.js';

const RULES_IN_WORDS =
  'JRPC-014 (MUST NOT): A client never emits JSON-RPC responses on any transport. https://modelcontextprotocol.io/specification/2026-07-28/basic/transports. STDIO-009 (MUST NOT): The client writes no JSON-RPC responses to stdin in the modern era. https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio';

describe('the SARIF report', () => {
  it('names the version, the tool and the time', () => {
    const { $schema, version, runs } = read();
    expect({ $schema, version, count: runs.length }).toEqual({
      $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
      version: '2.1.0',
      count: 1,
    });
    const [run] = runs;
    expect(run.tool.driver.name).toBe('isthmus check');
    expect(run.tool.driver.version).toBe('0.1.0');
    expect(run.automationDetails).toEqual({ id: 'isthmus-check/node-weather.js/' });
    expect(run.invocations).toEqual([
      {
        executionSuccessful: true,
        startTimeUtc: '2026-03-01T09:30:00.000Z',
        endTimeUtc: '2026-03-01T09:30:12.345Z',
      },
    ]);
  });

  it('has a rule with help for every check', () => {
    const { rules } = read().runs[0].tool.driver;
    expect(rules.map(({ id }: { id: string }) => id)).toEqual([
      'ping/answers',
      'discover/names-versions',
      'stdio/answers-what-is-not-json',
      'tools/describes-every-tool',
      'tools/input-schema-is-valid',
      'http/refuses-foreign-origins',
      'http/answers-get-with-405',
      'lifetime/ends-on-sigterm',
    ]);
    expect(rules[2]).toEqual({
      id: 'stdio/answers-what-is-not-json',
      shortDescription: { text: 'Answers a line that is not JSON with -32700' },
      fullDescription: { text: RULES_IN_WORDS },
      helpUri: 'https://modelcontextprotocol.io/specification/2026-07-28/basic/transports',
      help: {
        text: `Answers a line that is not JSON with -32700. ${RULES_IN_WORDS}. How to fix it: Catch the error of JSON.parse, answer with -32700, and read on.`,
        markdown:
          'Answers a line that is not JSON with -32700.\n\n- [JRPC-014](https://modelcontextprotocol.io/specification/2026-07-28/basic/transports): A client never emits JSON-RPC responses on any transport.\n- [STDIO-009](https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio): The client writes no JSON-RPC responses to stdin in the modern era.\n\n**How to fix it:** Catch the error of JSON.parse, answer with -32700, and read on.',
      },
      defaultConfiguration: { level: 'error' },
      properties: { tags: ['resilience', 'JRPC-014', 'STDIO-009'] },
    });
    expect(rules[3].defaultConfiguration.level).toBe('warning');
    expect(rules[3].fullDescription.text).toBe(
      'SHOULD, an opinion of isthmus: the specification has no rule for it. A model chooses by the description alone.',
    );
    expect(rules[3].properties.tags).toEqual(['tools', 'opinion']);
    expect(rules[3].helpUri).toBeUndefined();
  });

  it('has a result for what is broken, and for nothing else', () => {
    const { results } = read().runs[0];
    expect(
      results.map(({ ruleId, ruleIndex, level, kind }: Record<string, unknown>) => [
        ruleId,
        ruleIndex,
        level,
        kind,
      ]),
    ).toEqual([
      ['stdio/answers-what-is-not-json', 2, 'error', 'fail'],
      ['tools/describes-every-tool', 3, 'warning', 'fail'],
      ['tools/input-schema-is-valid', 4, 'note', 'fail'],
      ['lifetime/ends-on-sigterm', 7, 'error', 'fail'],
    ]);
    expect(results[0].message.text).toBe(
      'Answers a line that is not JSON with -32700 (modern era). Seen: The process ended with exit code 1, 8 ms after the line. Expected: An error -32700 without an id, and a server that lives on.',
    );
    expect(results[3].message.text).toBe('Ends on SIGTERM. Could not be finished. Seen: spawn EAGAIN');
  });

  it('places a result at the target, and at a file, without which GitHub refuses it', () => {
    const [{ locations }] = read().runs[0].results;
    expect(locations).toEqual([
      {
        physicalLocation: {
          artifactLocation: { uri: 'README.md', uriBaseId: '%SRCROOT%' },
          region: { startLine: 1 },
        },
        logicalLocations: [
          { name: 'node weather.js', fullyQualifiedName: 'node weather.js', kind: 'resource' },
        ],
      },
    ]);
    const elsewhere = JSON.parse(toSarif(aReport(), { artifact: 'src/my server.ts' }));
    expect(elsewhere.runs[0].results[0].locations[0].physicalLocation.artifactLocation.uri).toBe(
      'src/my%20server.ts',
    );
  });

  it('knows a result again by check, era and target', () => {
    const [{ partialFingerprints }] = read().runs[0].results;
    expect(partialFingerprints['isthmusCheck/v1']).toBe('stdio/answers-what-is-not-json (modern)');
    expect(partialFingerprints.primaryLocationLineHash).toMatch(/^[0-9a-f]{16}:1$/);
    const later = JSON.parse(toSarif(aReport({ started: '2026-04-01T00:00:00.000Z', seed: 7 })));
    expect(later.runs[0].results[0].partialFingerprints).toEqual(partialFingerprints);
    const other = JSON.parse(toSarif(aReport({ target: { label: 'node other.js', transport: 'command' } })));
    expect(other.runs[0].results[0].partialFingerprints.primaryLocationLineHash).not.toBe(
      partialFingerprints.primaryLocationLineHash,
    );
  });

  it('suppresses what the baseline accepts, and reports its stale entries', () => {
    const { results, tool } = JSON.parse(toSarif(aReport({ stale: ['a/b holds now'] }))).runs[0];
    expect(results[2].suppressions).toEqual([
      { kind: 'external', status: 'accepted', justification: 'The baseline accepts it.' },
    ]);
    expect(results[0].suppressions).toBeUndefined();
    expect(results[4].ruleId).toBe('baseline/stale');
    expect(results[4].message.text).toBe('Stale entry of the baseline: a/b holds now');
    expect(tool.driver.rules[results[4].ruleIndex].id).toBe('baseline/stale');
  });

  it.each([
    ['an ordinary report', aReport()],
    ['an empty report', aReport({ findings: [] })],
    ['a hostile report', hostileReport()],
  ])('has for %s what the schema requires', (_, report) => {
    expect(complaintsAbout(JSON.parse(toSarif(report)))).toEqual([]);
  });

  it('leaves no markup, no control characters and no megabytes in it', () => {
    const text = toSarif(hostileReport());
    const { rules } = JSON.parse(text).runs[0].tool.driver;
    expect(rules[0].help.markdown).toContain('\\<script\\>globalThis.harmed = true\\</script\\>');
    expect(text).not.toMatch(/[\u202e\u200b\u009b]|\\u001b/);
    expect(text.length).toBeLessThan(300_000);
  });
});

// biome-ignore lint/suspicious/noExplicitAny: a document whose shape is what is tested
type Json = any;

function read(): Json {
  return JSON.parse(toSarif(aReport()));
}

/** By hand, what the official schema requires of the parts that we use. */
function complaintsAbout(log: Json): string[] {
  const complaints: string[] = [];
  const need = (holds: boolean, what: string) => {
    if (!holds) complaints.push(what);
  };
  const isText = (value: unknown) => typeof value === 'string' && value !== '';
  need(log.version === '2.1.0' && Array.isArray(log.runs), 'a log has version and runs');
  for (const run of log.runs) {
    const { driver } = run.tool;
    need(isText(driver.name), 'a driver has a name');
    need(new Set(driver.rules).size === driver.rules.length, 'rules are unique');
    need(run.columnKind === 'utf16CodeUnits', 'columnKind');
    for (const rule of driver.rules) {
      need(isText(rule.id), 'a rule has an id');
      for (const key of ['shortDescription', 'fullDescription', 'help']) need(isText(rule[key].text), key);
      need(['error', 'warning'].includes(rule.defaultConfiguration.level), 'defaultConfiguration.level');
      need(rule.properties.tags.length <= 20, 'GitHub takes 20 tags');
    }
    for (const { executionSuccessful, startTimeUtc } of run.invocations) {
      need(typeof executionSuccessful === 'boolean', 'executionSuccessful');
      need(!Number.isNaN(Date.parse(startTimeUtc)), 'startTimeUtc');
    }
    for (const result of run.results) {
      need(isText(result.message.text), 'a result has a message');
      need(['error', 'warning', 'note'].includes(result.level) && result.kind === 'fail', 'level and kind');
      need(driver.rules[result.ruleIndex]?.id === result.ruleId, 'ruleIndex');
      need(Object.values(result.partialFingerprints).every(isText), 'partialFingerprints are texts');
      const [{ physicalLocation, logicalLocations }] = result.locations;
      need(/^[\w./%-]+$/.test(physicalLocation.artifactLocation.uri), 'a relative URI');
      need(physicalLocation.artifactLocation.uriBaseId in run.originalUriBaseIds, 'uriBaseId');
      need(physicalLocation.region.startLine >= 1, 'startLine');
      need(isText(logicalLocations[0].name), 'a logical location has a name');
    }
  }
  return complaints;
}

/** What counts as a difference between a server and the same behind a bridge. */
import { describe, expect, it } from 'vitest';
import type { Facts } from '../../src/survey/facts.js';
import { compare } from '../../src/through/compare.js';
import type { Difference } from '../../src/through/differences.js';
import { aFinding } from '../support/report/sample-report.js';
import { aFrame, aServer, aStop, judged } from '../support/sample-facts.js';

describe('a server and the same behind a bridge', () => {
  it('have no difference when nothing is lost', () => {
    expect(differences(aServer(), aServer())).toEqual([]);
  });

  it('may have members in another order', () => {
    const turned = aServer({ tools: [{ inputSchema: { type: 'object' }, name: 'forecast' }] });
    expect(differences(aServer(), turned)).toEqual([]);
  });

  it('differ in what is lost: an era, a tool, a capability, a member', () => {
    const modern = aServer({ era: 'modern', revision: '2026-07-28' });
    const poor = aServer({
      capabilities: { tools: {} },
      tools: [],
      resources: [{ uri: 'weather://today' }],
      hello: {},
    });
    expect(compare(judged([modern, aServer()]), [modern, aServer()], judged([poor]))).toEqual([
      { kind: 'worse', era: 'modern', about: 'era modern', direct: 'is spoken', through: 'is not' },
      {
        kind: 'worse',
        era: 'legacy',
        about: 'capabilities',
        direct: 'resources: {"subscribe":true}',
        through: 'resources: nothing',
      },
      {
        kind: 'worse',
        era: 'legacy',
        about: 'instructions',
        direct: '"Ask for the weather."',
        through: 'nothing',
      },
      {
        kind: 'worse',
        era: 'legacy',
        about: 'tool forecast',
        direct: '{"inputSchema":{"type":"object"},"name":"forecast"}',
        through: 'nothing',
      },
      {
        kind: 'worse',
        era: 'legacy',
        about: 'resource weather://today',
        direct: 'name: "today"',
        through: 'name: nothing',
      },
    ]);
  });

  it('differ in each place of an item that has changed', () => {
    const other = aServer({
      tools: [{ name: 'forecast', inputSchema: { type: 'object', x: 1 }, title: 'F' }],
    });
    expect(differences(aServer(), other)).toEqual([
      {
        kind: 'other',
        era: 'legacy',
        about: 'tool forecast',
        direct: 'inputSchema.x: nothing',
        through: 'inputSchema.x: 1',
      },
      {
        kind: 'other',
        era: 'legacy',
        about: 'tool forecast',
        direct: 'title: nothing',
        through: 'title: "F"',
      },
    ]);
  });

  it('differ in what was added', () => {
    const more = aServer({ prompts: [{ name: 'plan' }, { name: 'trick' }] });
    expect(differences(aServer(), more)).toEqual([
      {
        kind: 'other',
        era: 'legacy',
        about: 'prompt trick',
        direct: 'is not there',
        through: 'is there',
      },
    ]);
    const modern = aServer({ era: 'modern' });
    expect(compare(judged([aServer()]), [aServer()], judged([aServer(), modern]))).toEqual([
      { kind: 'better', era: 'modern', about: 'era modern', direct: 'is not spoken', through: 'is' },
    ]);
  });
});

describe('an answer through a bridge', () => {
  it('differs where its words do, and is shown at that place', () => {
    const other = aStop({ content: [{ type: 'text', text: 'Sun' }], structuredContent: {} });
    expect(differences(aServer(), aServer({ walkthrough: [other] }))).toEqual([
      {
        kind: 'other',
        era: 'legacy',
        about: 'tools/call forecast',
        direct: 'content[0].text: "Rain"',
        through: 'content[0].text: "Sun"',
      },
    ]);
  });

  it('may have its own notes, states and times to live', () => {
    const content = [{ type: 'text', text: 'Rain' }];
    const one = aStop({ content, requestState: 'a', ttlMs: 1, _meta: { 'io.modelcontextprotocol/x': 1 } });
    const other = aStop({ content, requestState: 'sealed a', cacheScope: 'private' });
    expect(differences(aServer({ walkthrough: [one] }), aServer({ walkthrough: [other] }))).toEqual([]);
  });

  it('has lost its progress, its logs or its questions', () => {
    const progress = aFrame('notifications/progress', { progressToken: 7, progress: 1 });
    const log = aFrame('notifications/message', { level: 'info', data: 'here' });
    const question = aFrame('elicitation/create', { message: 'Sure?' });
    const full = (era: Facts['era']) =>
      aServer({ era, walkthrough: [aStop({}, [progress, log], [question])] });
    const poor = (era: Facts['era']) => aServer({ era, walkthrough: [aStop({}, [progress])] });
    const questions = {
      kind: 'worse',
      about: 'questions of tools/call forecast',
      direct: '[{"method":"elicitation/create","params":{"message":"Sure?"}}]',
      through: '[]',
    };
    expect(differences(full('modern'), poor('modern'))).toEqual([
      {
        kind: 'worse',
        era: 'modern',
        about: 'notifications of tools/call forecast',
        direct:
          '[{"method":"notifications/progress","params":{"progress":1}},{"method":"notifications/message","params":{"data":"here","level":"info"}}]',
        through: '[{"method":"notifications/progress","params":{"progress":1}}]',
      },
      { ...questions, era: 'modern' },
    ]);
    // A legacy log may belong to anything that goes on.
    expect(differences(full('legacy'), poor('legacy'))).toEqual([{ ...questions, era: 'legacy' }]);
  });

  it('is worse where it is an error, or none at all', () => {
    const failed = aServer({ walkthrough: [aStop({ content: [], isError: true })] });
    const silent = aServer({
      walkthrough: [{ ...aStop(), reply: { ...aStop().reply, kind: 'silence', why: 'x' } }],
    });
    const kinds = (one: Facts, other: Facts) => differences(one, other).map(({ kind }) => kind);
    expect(kinds(aServer(), failed)).toEqual(['worse']);
    expect(kinds(failed, silent)).toEqual(['worse']);
    expect(kinds(failed, aServer())).toEqual(['other']);
  });

  it('is no news where the server itself answers otherwise each time', () => {
    const at = (time: string) =>
      aServer({ walkthrough: [aStop({ content: [{ type: 'text', text: time }] })] });
    expect(compare(judged([at('1')]), [at('2')], judged([at('3')]))).toEqual([]);
    expect(compare(judged([at('1')]), [at('1')], judged([at('3')]))).toHaveLength(1);
  });

  it('is missed where the same tool could not be called', () => {
    expect(differences(aServer(), aServer({ walkthrough: [] }))).toEqual([
      {
        kind: 'worse',
        era: 'legacy',
        about: 'tools/call forecast',
        direct: 'was called',
        through: 'could not be called',
      },
    ]);
  });
});

describe('a check that was made on both ways', () => {
  const compareOutcomes = (was: Parameters<typeof aFinding>[0], is: Parameters<typeof aFinding>[0]) =>
    compare(judged([aServer()], [aFinding(was)]), [aServer()], judged([aServer()], [aFinding(is)]));

  it('is worse where it fails only through the bridge, and better the other way round', () => {
    const broken = { outcome: 'fail', seen: 'no answer' } as const;
    const holds = 'holds: an empty result after 2 ms';
    const fails = 'MUST does not hold: no answer';
    const about = { era: 'legacy', about: 'check ping/answers' };
    expect(compareOutcomes({}, broken)).toEqual([{ ...about, kind: 'worse', direct: holds, through: fails }]);
    expect(compareOutcomes(broken, {})).toEqual([
      { ...about, kind: 'better', direct: fails, through: holds },
    ]);
  });

  it('counts where it could not be finished, and not where it does not apply', () => {
    expect(compareOutcomes({}, { outcome: 'error', seen: 'no time' })).toHaveLength(1);
    expect(compareOutcomes({}, { outcome: 'skip', seen: 'is about a command' })).toEqual([]);
    expect(compareOutcomes({ outcome: 'fail' }, { outcome: 'warn' })).toEqual([]);
  });
});

function differences(direct: Facts, through: Facts): Difference[] {
  return compare(judged([direct]), [direct], judged([through]));
}

import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Answers, ServerDefinition } from '../../src/index.js';
import { hostOf, program, settle, tool } from '../support/host-sharing.js';

/** The questions of servers that others wrote, over one process, to several conversations. */

const EVERYTHING = fileURLToPath(
  new URL('../../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url),
);

/** Answers everything, so that it shows who did. */
function allBy(who: string): { readonly answers: Answers; readonly asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    answers: {
      elicit: ({ message }) => {
        asked.push(`elicit ${message}`);
        return { action: 'accept', content: { answer: who, name: who } };
      },
      sample: ({ messages }) => {
        asked.push(`sample ${messages.length}`);
        return { role: 'assistant', content: { type: 'text', text: who }, model: who };
      },
      roots: () => {
        asked.push('roots');
        return [{ uri: `file:///${who}` }];
      },
    },
  };
}

const KINDS = [
  { kind: 'elicit', says: (who: string) => who },
  { kind: 'sample', says: (who: string) => who },
  { kind: 'roots', says: (who: string) => `file:///${who}` },
];

const V1 = (more: Partial<ServerDefinition> = {}) => program('server-asks-whoever-calls.mjs', [], more);
const V2 = () => program('server-asks-in-rounds.mjs');

describe.each([
  { name: 'v1', definition: V1 },
  { name: 'v2', definition: V2 },
])('the official SDK $name', ({ definition }) => {
  it.each(KINDS)('has $kind answered by the caller, one after the other', async ({ kind, says }) => {
    const host = hostOf(definition());
    for (const who of ['ada', 'bob', 'cyd']) {
      const { answers, asked } = allBy(who);
      const client = host.conversation('it', { answers });
      const said = await tool(client.callTool(kind, { text: 'q' }));
      expect(said).toMatch(/^q: /);
      expect(said).toContain(says(who));
      expect(asked.length).toBe(1);
    }
  });

  it('has the question of a conversation without answers refused, and asks nobody else', async () => {
    const host = hostOf(definition());
    const able = allBy('able');
    const other = host.conversation('it', { answers: able.answers });
    await other.callTool('echo', { text: 'hello' });
    const mute = host.conversation('it');
    const outcome = await mute.callTool('elicit', { text: 'q' }).then(
      ({ isError }) => isError,
      () => true,
    );
    expect(outcome).toBe(true);
    expect(able.asked).toEqual([]);
    expect(await tool(other.callTool('elicit', { text: 'q' }))).toBe('q: able');
  });

  it('lets an answer make a call of its own', async () => {
    const host = hostOf(definition());
    const client = host.conversation('it', {
      answers: {
        async elicit() {
          return {
            action: 'accept',
            content: { answer: await tool(client.callTool('echo', { text: 'nested' })) },
          };
        },
      },
    });
    expect(await tool(client.callTool('elicit', { text: 'q' }))).toBe('q: nested');
  });
});

describe('the official SDK v1, asked by two conversations at once', () => {
  it.each(KINDS)('adaptive: $kind is refused once, and right the next time', async ({ kind, says }) => {
    const host = hostOf(V1());
    const people = ['ada', 'bob'].map((who) => ({ who, ...allBy(who) }));
    const clients = people.map(({ answers }) => host.conversation('it', { answers }));
    const first = await Promise.all(clients.map((client) => client.callTool(kind, { text: 'q', of: 2 })));
    const refused = first.filter(({ isError }) => isError);
    for (const { content } of refused) {
      expect(JSON.stringify(content)).toContain('2 conversations share this connection');
    }
    // When one was refused and has ended, it is clear whose the other question is.
    expect(refused.length).toBeGreaterThan(0);
    for (const [at, { isError, content }] of first.entries()) {
      const { who, asked } = people[at]!;
      if (!isError) expect(content).toEqual([{ type: 'text', text: `q: ${says(who)}` }]);
      expect(asked.splice(0).length).toBe(isError ? 0 : 1);
    }
    const second = await Promise.all(clients.map((client) => tool(client.callTool(kind, { text: 'q' }))));
    expect(second).toEqual([`q: ${says('ada')}`, `q: ${says('bob')}`]);
    expect(people.map(({ asked }) => asked.length)).toEqual([1, 1]);
  });

  it.each(KINDS)('queue: $kind is right the first time, for ten', async ({ kind, says }) => {
    const host = hostOf(V1({ questions: 'queue' }));
    const names = Array.from({ length: 10 }, (_, at) => `person-${at}`);
    const said = await Promise.all(
      names.map((who) =>
        tool(host.conversation('it', { answers: allBy(who).answers }).callTool(kind, { text: 'q' })),
      ),
    );
    expect(said).toEqual(names.map((who) => `q: ${says(who)}`));
  });

  it('refuse: calls that wait for each other still meet, however often their questions were refused', async () => {
    const host = hostOf(V1({ questions: 'refuse' }));
    const clients = ['ada', 'bob'].map((who) => host.conversation('it', allBy(who)));
    for (let times = 0; times < 3; times += 1) {
      const both = await Promise.all(
        clients.map((client) => client.callTool('elicit', { text: 'q', of: 2 })),
      );
      // Both ask; when the first was refused and has ended, it is clear whose the other question is.
      expect(both.map(({ isError }) => isError)).toContain(true);
    }
  });
});

describe('the official SDK v2, asked by twenty conversations at once', () => {
  it.each(KINDS)('has $kind answered by the caller (MRTR-022)', async ({ kind, says }) => {
    const host = hostOf(V2());
    const names = Array.from({ length: 20 }, (_, at) => `person-${at}.`);
    const said = await Promise.all(
      names.map((who) =>
        tool(host.conversation('it', { answers: allBy(who).answers }).callTool(kind, { text: `q ${who}` })),
      ),
    );
    for (const [at, who] of names.entries()) {
      expect(said[at]).toMatch(new RegExp(`^q ${who}: `));
      expect(said[at]).toContain(says(who));
    }
  });
});

describe('server-everything', () => {
  const definition = (more: Partial<ServerDefinition> = {}): ServerDefinition => ({
    command: process.execPath,
    args: [EVERYTHING, 'stdio'],
    ...more,
  });

  it('has its echo, its elicitation and its sampling answered by the right one of two', async () => {
    const host = hostOf(definition({ questions: 'queue' }));
    const clients = ['ada', 'bob'].map((who) => {
      const { elicit, sample } = allBy(who).answers;
      return host.conversation('it', { answers: { elicit: elicit!, sample: sample! } });
    });
    const both = (name: string, args: (at: number) => Record<string, string | number>) =>
      Promise.all(clients.map((client, at) => tool(client.callTool(name, args(at)))));
    expect(await both('echo', (at) => ({ message: `from ${at}` }))).toEqual(['Echo: from 0', 'Echo: from 1']);
    const elicited = await both('trigger-elicitation-request', () => ({}));
    expect(elicited[0]).toContain('- Name: ada');
    expect(elicited[1]).toContain('- Name: bob');
    const sampled = await both('trigger-sampling-request', (at) => ({ prompt: `p${at}`, maxTokens: 5 }));
    expect(sampled[0]).toContain('"model": "ada"');
    expect(sampled[1]).toContain('"model": "bob"');
  });

  it('has its roots, which it asks for of nobody in particular, from the definition', async () => {
    const host = hostOf(definition({ answers: { roots: [{ uri: 'file:///house', name: 'house' }] } }));
    const [a, b] = [allBy('ada'), allBy('bob')];
    const clients = [a, b].map(({ answers }) => host.conversation('it', { answers }));
    await host.start('it');
    // It asks when it has been up for a while, and says what it got.
    while (!host.seen.some((event) => event.kind === 'log')) await settle(1);
    expect(host.seen.flatMap((event) => (event.kind === 'log' ? event.entry.data : []))).toEqual([
      'Roots updated: 1 root(s) received from client',
    ]);
    expect(await tool(clients[0]!.callTool('get-roots-list'))).toContain('file:///house');
    expect([a.asked, b.asked]).toEqual([[], []]);
  });
});

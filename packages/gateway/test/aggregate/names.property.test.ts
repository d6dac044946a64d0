import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ListPlace, mergePages } from '../../src/aggregate/lists.js';
import type { AggregateMember } from '../../src/aggregate/members.js';
import { Names } from '../../src/aggregate/shared-names.js';

const LEGAL = /^[A-Za-z0-9_.-]{1,128}$/;
const word = fc.string({
  unit: fc.constantFrom('a', 'b', '_', '__', '-', '.', '2'),
  minLength: 1,
  maxLength: 6,
});
const odd = fc.oneof(
  word,
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }),
  fc.constant('x'.repeat(128)),
);
const servers = fc.uniqueArray(odd, { minLength: 2, maxLength: 6 });
const separator = fc.constantFrom('__', '_', '.', '-', 'a', '--');
const tool = fc.oneof(
  word,
  fc.string({ unit: fc.constantFrom('a', '_', 'b'), minLength: 60, maxLength: 128 }),
);

describe('names of tools, whatever the servers are called', () => {
  it('are legal, and no two are the same', () => {
    fc.assert(
      fc.property(servers, separator, fc.uniqueArray(tool, { maxLength: 6 }), (all, between, tools) => {
        const names = new Names(between, all);
        const made = all.flatMap((server) => tools.map((name) => names.to({ server, name })));
        for (const name of made) expect(name).toMatch(LEGAL);
        expect(new Set(made).size).toBe(made.length);
      }),
    );
  });

  it('say whose they are, or are known as names that do not', () => {
    fc.assert(
      fc.property(servers, separator, tool, (all, between, name) => {
        const names = new Names(between, all);
        for (const server of all) {
          const made = names.to({ server, name });
          if (made === names.plain({ server, name })) expect(names.from(made)).toEqual({ server, name });
          else expect(names.isDoubtful(made)).toBe(true);
        }
      }),
    );
  });

  it('keep the name of a server that needs no change, whoever else is there', () => {
    const plain = fc.stringMatching(/^[A-Za-z0-9.-]{1,20}$/);
    fc.assert(
      fc.property(plain, servers, (server, others) => {
        const names = new Names('__', [...new Set([...others, server])]);
        expect(names.plain({ server, name: 'tool' })).toBe(`${server}__tool`);
      }),
    );
  });

  it('do not depend on the order of the others, unless they have to share a word', () => {
    const legal = fc.uniqueArray(fc.stringMatching(/^[A-Za-z0-9_.-]{1,8}$/), { minLength: 2, maxLength: 5 });
    fc.assert(
      fc.property(legal, tool, (all, name) => {
        const forwards = new Names('__', all);
        const backwards = new Names('__', all.toReversed());
        for (const server of all) expect(backwards.to({ server, name })).toBe(forwards.to({ server, name }));
      }),
    );
  });
});

/** A server that is nothing but its pages; its cursors are words that need care. */
function pagesOf(name: string, pages: readonly (readonly string[])[], cursors: readonly string[]) {
  const part: AggregateMember = { name, service: undefined as never, absence: () => undefined };
  const ask = async (cursor: string | undefined): Promise<JsonObject> => {
    const at = cursor === undefined ? 0 : cursors.indexOf(cursor) + 1;
    const items = (pages[at] ?? []).map((each) => ({ name: each }));
    return { tools: items, ...(at + 1 < pages.length && { nextCursor: cursors[at]! }) };
  };
  return { part, ask, all: pages.flat().map((each) => `${name}/${each}`) };
}

describe('cursors over several servers', () => {
  const cursors = fc.uniqueArray(fc.string({ unit: 'grapheme', maxLength: 5 }), {
    minLength: 4,
    maxLength: 4,
  });
  const pages = fc.array(fc.array(word, { maxLength: 3 }), { minLength: 1, maxLength: 5 });

  it('lead to every entry of every server, once and in its order', async () => {
    const paged = fc.uniqueArray(fc.tuple(odd, pages, cursors), { selector: ([name]) => name, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(paged, async (all) => {
        const every = all.map(([name, own, words]) => pagesOf(name, own, words));
        const merging = {
          key: 'tools',
          members: every.map(({ part }) => part),
          ask: (places: readonly ListPlace[]) =>
            Promise.allSettled(
              places.map(({ member, at }) => every.find((each) => each.part === member)!.ask(at)),
            ),
          present: (part: AggregateMember, item: JsonObject) => ({
            name: `${part.name}/${String(item['name'])}`,
          }),
        };
        const seen: string[] = [];
        let cursor: unknown;
        let asked = 0;
        do {
          const page = await mergePages(cursor, merging);
          seen.push(...(page['tools'] as { name: string }[]).map(({ name }) => name));
          cursor = page['nextCursor'];
          asked += 1;
        } while (cursor !== undefined);
        for (const { part, all: own } of every) {
          expect(seen.filter((name) => name.startsWith(`${part.name}/`)).slice(0, own.length)).toEqual(own);
        }
        expect(seen.toSorted()).toEqual(every.flatMap(({ all: own }) => own).toSorted());
        expect(asked).toBe(Math.max(1, ...all.map(([, own]) => own.length)));
      }),
    );
  });

  it('that nobody gave out are -32602, and never anything else', async () => {
    const { part, ask } = pagesOf('a', [['x'], ['y']], ['1']);
    const merging = {
      key: 'tools',
      members: [part],
      ask: (places: readonly ListPlace[]) => Promise.allSettled(places.map(({ at }) => ask(at))),
      present: (_: AggregateMember, item: JsonObject) => item,
    };
    await fc.assert(
      fc.asyncProperty(
        fc.anything().filter((value) => value !== undefined),
        async (cursor) => {
          await expect(mergePages(cursor, merging)).rejects.toMatchObject({ code: -32602 });
        },
      ),
    );
  });
});

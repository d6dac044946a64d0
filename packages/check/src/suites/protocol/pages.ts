import type { Check } from '../../model.js';
import { needRefusal } from './answers.js';
import { itemsIn, keysIn, needLists } from './lists.js';
import { pagesOf } from './paging.js';

/** Lists that come in pages. */
export const pageChecks: readonly Check[] = [
  {
    id: 'pages/bad-cursor',
    suite: 'protocol',
    title: 'Refuses a cursor that it never gave out with -32602',
    level: 'SHOULD',
    rules: ['PAGE-006', 'ERR-017'],
    hint: 'Check the cursor of every list, also where all fits on one page: answer -32602 to one you do not know.',
    async run(table) {
      const talk = await table.talk();
      const lists = needLists(table);
      for (const { method } of lists) {
        const reply = await talk.request(method, { cursor: 'isthmus-check-no-such-cursor' });
        needRefusal(table, reply, [-32602], `${method} with a made-up cursor`);
      }
      return `a made-up cursor was refused in ${lists.map(({ method }) => method).join(', ')}`;
    },
  },
  {
    id: 'pages/end',
    suite: 'protocol',
    title: 'Comes to the end of a list',
    level: 'SHOULD',
    rules: ['PAGE-001', 'PAGE-006'],
    hint: 'Leave out nextCursor on the last page, and never give out a cursor twice in one walk.',
    async run(table) {
      const lists = await pagesOf(table);
      for (const { list, pages, isEnded } of lists) {
        if (!isEnded)
          table.fail(`${list.method} goes round in circles after ${pages.length} pages`, 'a last page');
      }
      return lists.map(({ list, pages }) => `${list.method} ends after ${pages.length} pages`).join(', ');
    },
  },
  {
    id: 'pages/disjoint',
    suite: 'protocol',
    title: 'Lists each item on one page only',
    level: 'SHOULD',
    rules: [],
    reason: 'A client that puts the pages together would show an item twice.',
    hint: 'Let a cursor point behind the last item of its page.',
    async run(table) {
      const lists = await pagesOf(table);
      for (const { list, pages } of lists) {
        const keys = pages.flatMap((page) => [...new Set(keysIn(page, list))]);
        const twice = keys.find((key, index) => keys.indexOf(key) !== index);
        if (twice !== undefined) table.fail(`${twice} is on two pages of ${list.method}`, 'each item once');
      }
      return `no item of ${lists.map(({ list }) => list.method).join(', ')} is on two pages`;
    },
  },
  {
    id: 'pages/cursor-stable',
    suite: 'protocol',
    title: 'Gives the same page for the same cursor',
    level: 'SHOULD',
    rules: ['PAGE-006'],
    hint: 'Let a cursor say where its page begins; do not use it up.',
    async run(table) {
      const talk = await table.talk();
      const lists = await pagesOf(table);
      for (const { list, pages, cursors } of lists) {
        const reply = await talk.request(list.method, { cursor: cursors[0] });
        const page = table.needResult(reply, `a cursor of ${list.method}, used again,`);
        if (JSON.stringify(itemsIn(page, list)) !== JSON.stringify(itemsIn(pages[1]!, list)))
          table.fail(`a cursor of ${list.method} gave another page the second time`, 'the same page');
      }
      return `cursors of ${lists.map(({ list }) => list.method).join(', ')} can be used again`;
    },
  },
  {
    id: 'pages/cursor-anywhere',
    suite: 'protocol',
    title: 'Takes a cursor on another connection',
    level: 'SHOULD',
    rules: ['STATE-003', 'STATE-005'],
    era: 'modern',
    hint: 'Keep what a cursor means in the cursor, not in the connection.',
    async run(table) {
      const [first] = await pagesOf(table);
      const talk = await table.openTalk();
      const reply = await talk.request(first!.list.method, { cursor: first!.cursors[0] });
      table.needResult(reply, `a cursor of ${first!.list.method}, on another connection,`);
      return `a cursor of ${first!.list.method} works on another connection`;
    },
  },
  {
    id: 'pages/unique',
    suite: 'protocol',
    title: 'Lists no prompt, resource or template twice',
    level: 'SHOULD',
    rules: [],
    reason: 'A client asks for items by name or URI, and gets one of two that are called the same.',
    hint: 'Give each prompt a name, and each resource a URI, of its own.',
    run(table) {
      const named = [
        ['prompt', table.facts.prompts.map(({ name }) => name)],
        ['resource', table.facts.resources.map(({ uri }) => uri)],
        ['template', table.facts.templates.map(({ uriTemplate }) => uriTemplate)],
      ] as const;
      const count = named.reduce((sum, [, names]) => sum + names.length, 0);
      if (count === 0) table.skip('the server lists no prompts, resources or templates');
      for (const [kind, names] of named) {
        const twice = names.find((name, index) => names.indexOf(name) !== index);
        if (twice !== undefined) table.fail(`the ${kind} ${String(twice)} is listed twice`, 'each one once');
      }
      return `${count} prompts, resources and templates are listed once each`;
    },
  },
];

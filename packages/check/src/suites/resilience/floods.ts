import { aliveMethod } from '../../conversation/alive.js';
import type { Check } from '../../model.js';
import { describeEnd, harmless, inShort, line, newId, peerOf, strike } from './bad-input.js';
import { gather } from './gather.js';

const common = {
  suite: 'resilience',
  over: ['command', 'socket'],
} as const satisfies Partial<Check>;

/** Very much at once. */
export const floodChecks: readonly Check[] = [
  {
    ...common,
    id: 'flood/thousand',
    title: 'Answers each of a thousand requests that come at once, exactly once',
    level: 'MUST',
    rules: ['PING-001', 'DISC-001', 'JRPC-006'],
    hint: 'Queue what cannot be served at once; never drop a request, never answer one twice.',
    lane: 'own',
    async run(table) {
      const talk = await table.openTalk();
      const peer = peerOf(table, talk);
      const ids = Array.from({ length: 1000 }, (_, index) => `flood-${index}`);
      void peer.sendBytes(ids.map((id) => `${JSON.stringify(harmless(talk, id))}\n`).join(''));
      const { missing, twice } = await gather(table, peer, ids);
      if (missing.length > 0) {
        table.fail(
          `${missing.length} of 1000 times ${aliveMethod(talk)} was not answered${describeEnd(peer)}`,
          'one answer for each',
        );
      }
      await table.pause(table.patience.quietMs);
      const again = twice.length > 0 ? twice : (await gather(table, peer, ids)).twice;
      if (again.length > 0)
        table.fail(`${again.length} of 1000 requests were answered twice`, 'one answer for each');
      return 'a thousand requests had a thousand answers';
    },
  },
  {
    ...common,
    id: 'flood/mixed',
    title: 'Answers every request among a flood of notifications and stray answers, and nothing else',
    level: 'SHOULD',
    rules: ['JRPC-012'],
    hint: 'Drop what needs no answer without a trace, and read on.',
    era: 'none',
    lane: 'own',
    async run(table) {
      const talk = await table.openTalk();
      const peer = peerOf(table, talk);
      const from = peer.transcript.frames.length;
      const ids = Array.from({ length: 200 }, (_, index) => `mixed-${index}`);
      const notification = { jsonrpc: '2.0', method: 'notifications/no-such-thing' };
      const stray = (index: number) => ({ jsonrpc: '2.0', id: `stray-${index}`, result: {} });
      const lines = ids.flatMap((id, index) => [
        notification,
        harmless(talk, id),
        stray(index),
        notification,
      ]);
      void peer.sendBytes(lines.map((each) => `${JSON.stringify(each)}\n`).join(''));
      const { missing } = await gather(table, peer, ids, { from });
      if (missing.length > 0)
        table.fail(
          `${missing.length} of 200 requests were not answered${describeEnd(peer)}`,
          'one answer for each',
        );
      await table.pause(table.patience.quietMs);
      const own = new Set(ids);
      const other = peer.transcript.frames
        .slice(from)
        .find(
          ({ from: by, kind, id }) =>
            by === 'server' && (kind === 'error' || kind === 'result') && !own.has(String(id)),
        );
      if (other)
        table.fail(`something else was answered, too: ${inShort(other)}`, 'answers to requests only');
      return '200 requests among 600 other messages were answered';
    },
  },
  {
    ...common,
    id: 'flood/same-id',
    title: 'Is not wedged by two requests with the same id at the same time',
    level: 'SHOULD',
    rules: [],
    reason: 'It is the mistake of the client, and others on the connection should not pay for it.',
    hint: 'Answer both, or refuse the second with -32600; do not let it replace the first in your tables.',
    lane: 'rough',
    async run(table) {
      const talk = await table.roughTalk();
      const id = newId(talk);
      const text = JSON.stringify(harmless(talk, id));
      const said = await strike(table, talk, line('the same id twice', `${text}\n${text}`), {
        listens: true,
      });
      if (said.length === 0) table.fail('two requests with the same id had no answer at all', 'at least one');
      return `two requests with the same id had ${said.length} answers, and the next was served`;
    },
  },
];

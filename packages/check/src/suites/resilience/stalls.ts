import { treeFacts } from '@isthmus/sdk/internal/process/process-facts.js';
import { askAlive } from '../../conversation/alive.js';
import type { Check } from '../../model.js';
import { describeEnd, harmless, peerOf, requestOf } from './bad-input.js';
import { gather } from './gather.js';
import { weightyRequest } from './weighty.js';

const common = {
  suite: 'resilience',
  level: 'SHOULD',
  rules: [],
  era: 'none',
  lane: 'own',
} as const satisfies Partial<Check>;

/** Peers that stop, and go on later or not at all. */
export const stallChecks: readonly Check[] = [
  {
    ...common,
    id: 'stall/slow-reader',
    title: 'Loses nothing when its answers are not read for a while',
    reason: 'Hosts are busy now and then; what a server has promised to answer must arrive all the same.',
    over: ['command', 'socket'],
    hint: 'Wait for drain when a write says that the pipe is full; do not drop, and do not give up.',
    async run(table) {
      const talk = await table.openTalk();
      const peer = peerOf(table, talk);
      const { method, params, answerBytes } = weightyRequest(table, talk, 16 * 1024);
      const count = Math.min(500, Math.max(50, Math.ceil((2 * MIB) / answerBytes)));
      const ids = Array.from({ length: count }, (_, index) => `stall-${index}`);
      peer.pause();
      void peer.sendBytes(
        ids.map((id) => `${JSON.stringify(requestOf(talk, id, method, params))}\n`).join(''),
        table.patience.checkMs,
      );
      await table.pause(2 * table.patience.quietMs);
      peer.resume();
      const { missing, twice } = await gather(table, peer, ids);
      if (missing.length > 0) {
        table.fail(
          `${missing.length} of ${count} answers (${method}) never came after a pause${describeEnd(peer)}`,
          'all answers, when they are read again',
        );
      }
      if (twice.length > 0)
        table.fail(`${twice.length} of ${count} answers came twice`, 'one answer for each');
      return `all of ${count} answers came after a pause`;
    },
  },
  {
    ...common,
    id: 'stall/bounded-memory',
    title: 'Stops reading, or holds little, while its answers are not read',
    reason:
      'What nobody reads piles up; a server that takes more and more requests meanwhile grows until it dies.',
    over: ['command'],
    hint: 'Read no more requests while answers wait for the pipe (backpressure), or put a limit on what waits.',
    async run(table) {
      const talk = await table.openTalk();
      const peer = peerOf(table, talk);
      const pid = peer.process?.pid ?? 0;
      const before = await treeFacts(pid);
      if (!before) return table.skip('the system does not tell how much memory a process has');
      const { method, params, answerBytes } = weightyRequest(table, talk, 256 * 1024);
      const count = Math.ceil((GROWTH_LIMIT * 1.5) / answerBytes);
      if (count > 20_000)
        return table.skip(
          `its longest answer (${method}) has ${answerBytes} bytes: too few to fill memory with`,
        );
      peer.pause();
      const text = (index: number) => `${JSON.stringify(requestOf(talk, `pile-${index}`, method, params))}\n`;
      const until = table.clock.now() + 0.6 * table.patience.answerMs;
      let sent = 0;
      while (sent < count && table.clock.now() < until) {
        const block = Array.from({ length: Math.min(4, count - sent) }, (_, index) => text(sent + index));
        if (!(await peer.sendBytes(block.join(''), Math.max(1, until - table.clock.now())))) break;
        sent += block.length;
      }
      await table.pause(table.patience.quietMs);
      const after = await treeFacts(pid);
      if (!after) return table.fail(`it ended while nobody read its answers${describeEnd(peer)}`, 'it waits');
      const growth = after.rssBytes - before.rssBytes;
      const seen = `took ${sent} requests (${method}), and its memory grew by ${Math.round(growth / MIB)} MiB`;
      if (growth > GROWTH_LIMIT)
        table.fail(`while nobody read its answers it ${seen}`, `growth below ${GROWTH_LIMIT / MIB} MiB`);
      return seen;
    },
  },
  {
    ...common,
    id: 'stall/others-go-on',
    title: 'Serves other connections while one has sent half a line and another does not read',
    reason: 'One client that hangs must not hang all others.',
    over: ['socket'],
    hint: 'Read and write each connection by itself; never wait for one in the loop that serves all.',
    async run(table) {
      const half = peerOf(table, await table.openTalk());
      await half.sendBytes('{"jsonrpc":"2.0","id":1,"meth');
      const deafTalk = await table
        .openTalk()
        .catch(() =>
          table.fail('beside half a line, another connection was not served', 'an answer as always'),
        );
      const deaf = peerOf(table, deafTalk);
      deaf.pause();
      const lines = Array.from({ length: 500 }, (_, index) => harmless(deafTalk, `deaf-${index}`));
      void deaf.sendBytes(lines.map((each) => `${JSON.stringify(each)}\n`).join(''), table.patience.checkMs);
      const talk = await table.openTalk().catch(() => undefined);
      const reply = talk && (await askAlive(talk));
      if (!reply || reply.kind === 'silence')
        table.fail('beside two connections that hang, a third was not served', 'an answer as always');
      return 'a third connection was served';
    },
  },
];

const MIB = 1024 * 1024;
const GROWTH_LIMIT = 96 * MIB;

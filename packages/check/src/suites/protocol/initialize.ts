import { isLegacyRevision, LEGACY_REVISIONS } from '@isthmus/sdk/internal/era/revisions.js';
import type { CheckConversation } from '../../conversation/conversation.js';
import { NoHello } from '../../conversation/open-conversation.js';
import type { Check } from '../../model.js';
import type { CheckContext } from '../../run/check-context.js';
import type { Facts } from '../../survey/facts.js';
import { inWords } from './answers.js';
import { greet } from './greeting.js';

/** The handshake of the legacy era. */
export const initializeChecks: readonly Check[] = [
  {
    id: 'initialize/version-echoed',
    suite: 'protocol',
    title: 'Answers initialize with the version that was asked for, if it speaks it',
    level: 'MUST',
    rules: ['INIT-009'],
    era: 'legacy',
    lane: 'own',
    hint: 'Look the version up among those you speak, and answer with that one; do not always answer with the newest.',
    async run(table) {
      const chosen = new Map<string, string>();
      for (const asked of LEGACY_REVISIONS)
        chosen.set(asked, asked === table.revision ? asked : await versionFor(table, asked));
      for (const [asked, answer] of chosen) {
        // It speaks what it answers with: asked for that, it has to say the same.
        const again = chosen.get(answer);
        if (again !== undefined && again !== answer)
          table.fail(
            `asked for ${asked} it chose ${answer}, and asked for ${answer} it chose ${again}`,
            answer,
          );
      }
      return [...chosen]
        .map(([asked, answer]) => (asked === answer ? asked : `${asked} became ${answer}`))
        .join(', ');
    },
  },
  {
    id: 'initialize/unknown-version',
    suite: 'protocol',
    title: 'Answers initialize in a version that it does not know with one that it does',
    level: 'MUST',
    rules: ['INIT-010'],
    era: 'legacy',
    lane: 'own',
    hint: 'Negotiate: answer with your newest version, and let the client decide; it is no error.',
    async run(table) {
      const answer = await versionForNobody(table);
      if (!isLegacyRevision(answer))
        table.fail(`asked for 1900-01-01 it chose ${JSON.stringify(answer)}`, LEGACY_REVISIONS.join(', '));
      return `asked for 1900-01-01 it chose ${answer}`;
    },
  },
  {
    id: 'initialize/newest-offered',
    suite: 'protocol',
    title: 'Offers its newest version to a client with one that it does not know',
    level: 'SHOULD',
    rules: ['INIT-010'],
    era: 'legacy',
    lane: 'own',
    hint: 'Answer with the newest version you speak, not with the oldest.',
    async run(table) {
      const answer = await versionForNobody(table);
      if (answer < table.revision)
        table.fail(`it chose ${answer}, and speaks ${table.revision}`, table.revision);
      return `asked for 1900-01-01 it chose ${answer}`;
    },
  },
  {
    id: 'initialize/ping-before-initialized',
    suite: 'protocol',
    title: 'Answers ping between initialize and initialized',
    level: 'MUST',
    rules: ['PING-001'],
    era: 'legacy',
    lane: 'own',
    hint: 'Answer ping from the first message on.',
    async run(table) {
      const greeting = await greet(table);
      table.needResult(await greeting.ask('ping'), 'ping before notifications/initialized');
      return 'ping was answered before notifications/initialized';
    },
  },
  {
    id: 'initialize/nothing-asked-early',
    suite: 'protocol',
    title: 'Asks nothing but ping before initialized',
    level: 'SHOULD',
    rules: ['INIT-006'],
    era: 'legacy',
    lane: 'own',
    over: ['command', 'socket'],
    hint: 'Wait for notifications/initialized before you ask for roots or anything else.',
    async run(table) {
      const { peer } = await greet(table);
      await table.pause(table.patience.quietMs);
      const early = peer!.transcript.frames.filter(
        ({ from, kind, method }) =>
          from === 'server' &&
          ((kind === 'request' && method !== 'ping') ||
            (kind === 'notification' && method !== 'notifications/message')),
      );
      if (early.length > 0)
        table.fail(
          `before initialized it sent ${early.map(({ method }) => method).join(', ')}`,
          'ping and logs alone',
        );
      return 'nothing was asked before initialized';
    },
  },
  {
    id: 'initialize/request-before',
    suite: 'protocol',
    title: 'Can be greeted after a request that came too early',
    level: 'SHOULD',
    rules: [],
    reason: 'One client in a hurry should not make a server useless.',
    era: 'legacy',
    lane: 'own',
    over: ['command', 'socket'],
    hint: 'Refuse what comes before initialize, and go on listening.',
    async run(table) {
      const greeting = await greet(table, (peer) => {
        peer.send({ jsonrpc: '2.0', id: 'early', method: 'tools/list' });
      });
      const { reply } = greeting;
      if (reply.kind !== 'result')
        table.fail(`initialize after tools/list gave ${inWords(reply)}`, 'a result');
      return 'initialize was answered after a request that came too early';
    },
  },
  {
    id: 'initialize/twice',
    suite: 'protocol',
    title: 'Answers a second initialize, and goes on',
    level: 'SHOULD',
    rules: [],
    reason: 'The specification does not say what it means; whoever waits for an answer has to get one.',
    era: 'legacy',
    lane: 'own',
    hint: 'Refuse it with -32600, or answer it like the first.',
    async run(table) {
      const talk = await table.openTalk();
      const params = {
        protocolVersion: talk.revision,
        capabilities: {},
        clientInfo: { name: 'again', version: '1' },
      };
      const reply = await talk.request('initialize', params);
      const seen = `a second initialize was answered with ${inWords(reply)}`;
      if (reply.kind === 'silence') table.fail(seen, 'a result or an error');
      table.needResult(await talk.request('ping'), 'ping after a second initialize');
      return seen;
    },
  },
];

/** What a server answers to a version that nobody knows. Asked once for all checks. */
function versionForNobody(table: CheckContext): Promise<string> {
  const known = answers.get(table.facts) ?? versionFor(table, '1900-01-01');
  answers.set(table.facts, known);
  return known;
}

const answers = new WeakMap<Facts, Promise<string>>();

/** What a server answers to `initialize` in that version. */
async function versionFor(table: CheckContext, revision: string): Promise<string> {
  let talk: CheckConversation;
  try {
    talk = await table.openTalk({ revision });
  } catch (error) {
    if (!(error instanceof NoHello)) throw error;
    return table.fail(`asked for ${revision}: ${error.message}`, 'a result with a version that it speaks');
  }
  await talk.close();
  return String(talk.hello['protocolVersion']);
}

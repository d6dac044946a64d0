/** What servers cancel themselves. */
import type { Check } from '../../model.js';
import { membersOf, paramsOf } from '../../wire/transcript.js';
import { evidence } from './exchanges.js';

export const cancellationServerChecks: readonly Check[] = [
  {
    id: 'cancellation/server-cancels-only-its-own',
    suite: 'protocol',
    title: 'Sends notifications/cancelled only for subscriptions (legacy: for its own requests)',
    level: 'MUST',
    rules: ['CANC-002', 'CANC-016'],
    lane: 'after',
    hint: 'Answer a request of the client with an error instead of cancelling it.',
    run(table) {
      let count = 0;
      for (const transcript of table.transcripts) {
        const own = new Set<unknown>();
        for (const frame of transcript.frames) {
          const isOwn =
            table.era === 'modern'
              ? frame.from === 'check' && frame.method === 'subscriptions/listen'
              : frame.from === 'server' && frame.kind === 'request';
          if (isOwn) own.add(membersOf(frame)['id']);
          if (frame.from !== 'server' || frame.method !== 'notifications/cancelled') continue;
          count++;
          const id = paramsOf(frame)['requestId'];
          // A task of 2025-11-25 is cancelled without one.
          if (id === undefined && table.revision === '2025-11-25') continue;
          if (!own.has(id))
            table.fail(
              `the server cancelled ${JSON.stringify(id)}, which is no ${table.era === 'modern' ? 'subscription' : 'request of its own'}`,
              'no cancellation of what others have asked',
              evidence(frame),
            );
        }
      }
      return count === 0 ? 'the server cancelled nothing' : `${count} cancellations were of its own`;
    },
  },
];

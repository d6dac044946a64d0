import type { Check } from '../../model.js';

/** The ping of the legacy era. */
export const pingChecks: readonly Check[] = [
  {
    id: 'ping/answered',
    suite: 'protocol',
    title: 'Answers ping with an empty result',
    level: 'MUST',
    rules: ['PING-001'],
    era: 'legacy',
    hint: 'Answer ping at once with `{}`, whatever else is going on.',
    async run(table) {
      const talk = await table.talk();
      const result = table.needResult(await talk.request('ping'), 'ping');
      const members = Object.keys(result).filter((key) => key !== '_meta');
      if (members.length > 0) table.fail(`the result has ${members.join(', ')}`, 'an empty result');
      return 'ping was answered with an empty result';
    },
  },
];

import { expect, it } from 'vitest';
import { CLIENT_CHECKS } from '../../src/client/catalogue.js';
import { SCENARIOS } from '../../src/client/scenarios/index.js';
import { levelInWords } from '../../src/rules/index.js';
import { inDocument, markdown, writeToDocument } from '../support/client/document.js';

// ISTHMUS_WRITE_DOCS=1 writes the tables instead of comparing them.
const WRITES = process.env['ISTHMUS_WRITE_DOCS'] === '1';

it('docs/check-client.md lists every server that a client is shown', () => {
  const rows = SCENARIOS.map(({ name, title, over }) => [`\`${name}\``, over.join(', '), title]);
  const table = markdown(['server', 'over', 'what it is like'], rows);
  if (WRITES) writeToDocument('scenarios', table);
  expect(inDocument('scenarios')).toBe(table);
});

it('docs/check-client.md lists every check', () => {
  const rows = CLIENT_CHECKS.map(({ id, level, title, rules }) => [
    `\`${id}\``,
    levelInWords({ level, rules }),
    title,
    rules.join(', '),
  ]);
  const table = markdown(['check', 'level', 'a sound client …', 'rules'], rows);
  if (WRITES) writeToDocument('checks', table);
  expect(inDocument('checks')).toBe(table);
});

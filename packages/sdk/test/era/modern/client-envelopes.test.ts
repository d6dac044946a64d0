import { expect, it } from 'vitest';
import { ClientEnvelopes } from '../../../src/era/modern/client-envelopes.js';
import { encodeMessage } from '../../../src/wire/codec.js';
import { requestMessage } from '../../../src/wire/json-rpc.js';

const info = (name = 'a') => ({ name, version: '1' });
const sampling = () => ({ sampling: { tools: {} } });

it('requests of one client share an envelope, also when each says anew who it is (STATE-001)', () => {
  const envelopes = new ClientEnvelopes('2026-07-28');
  const first = envelopes.of(info(), sampling());
  expect(first).toEqual({
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'a', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': { sampling: { tools: {} } },
  });
  expect(envelopes.of(info(), sampling())).toBe(first);
});

it.each([
  ['another version', { name: 'a', version: '2' }, sampling()],
  ['a title', { ...info(), title: 'A' }, sampling()],
  ['fewer capabilities', info(), {}],
  ['more capabilities', info(), { ...sampling(), roots: {} }],
  ['other capabilities inside', info(), { sampling: { context: {} } }],
  ['a list where an object was', info(), { sampling: [] as unknown as object }],
])('a client of the same name with %s has its own', (_, its, capabilities) => {
  const envelopes = new ClientEnvelopes('2026-07-28');
  envelopes.of(info(), sampling());
  for (let again = 0; again < 2; again += 1) {
    expect(envelopes.of(its, capabilities)).toEqual({
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': its,
      'io.modelcontextprotocol/clientCapabilities': capabilities,
    });
  }
});

it('a change of what an envelope was made of does not change the next request', () => {
  const envelopes = new ClientEnvelopes('2026-07-28');
  const mine = info();
  envelopes.of(mine, {});
  mine.name = 'changed';
  const text = encodeMessage(requestMessage(1, 'm', { _meta: envelopes.of(info(), {}) }));
  expect(text).toContain('"clientInfo":{"name":"a","version":"1"}'.replace('"clientInfo"', 'clientInfo"'));
  expect(text).not.toContain('changed');
});

it('many clients and large ones are not kept', () => {
  const envelopes = new ClientEnvelopes('2026-07-28');
  const first = envelopes.of(info(), {});
  for (let at = 0; at < 64; at += 1) envelopes.of(info(`client ${at}`), {});
  expect(envelopes.of(info(), {})).not.toBe(first);
  const large = info('x'.repeat(3000));
  expect(envelopes.of(large, {})).not.toBe(envelopes.of(large, {}));
});

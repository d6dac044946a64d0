/** What others write must not move the cursor of a terminal, nor look like a line of ours. */
import { describe, expect, it } from 'vitest';
import { eventually } from '../../../../test/support/until.js';
import { legacyCall, modernCall, openSession } from '../../../sdk/test/support/http-server.js';
import { controlClient } from '../../src/control/index.js';
import { openHouse, tellsAll } from '../support/secured-gateway.js';

/** Clears the screen, forges a line, changes the title, hides what follows, in 7 and 8 bits; and breaks lines. */
const NASTY = [
  '\u001b[2J\u001b[1;1H',
  '\u001b]0;owned\u0007',
  '\u009b31m',
  '\u009d0;owned\u009c',
  '\u0090q\u009c',
  '\r\n{"level":"fatal","msg":"forged"}\n',
  '\r[00:00:00.000] FATAL: forged',
  '\b\b\b\b',
  '\u2028forged\u2029',
  '\u0085forged',
];
/** The colours that we ourselves write. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is about control characters.
const OURS = /\u001b\[(3[0-9]|4[0-9]|9[0-7]|0|1|2|22|39|49)m/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is about control characters.
const CONTROLS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029]/;

async function provoke(format: 'json' | 'pretty') {
  const nasty = NASTY.join('');
  const house = await openHouse([tellsAll(`odd ${nasty}`), tellsAll('a')], { format });
  const session = await openSession(house.at('/mcp/a'));
  for (const text of NASTY) {
    await session.post(legacyCall(1, 'say', { text: `stderr ${text}\n` }));
    // Names of tools, of resources and of clients are whatever a client likes.
    await session.post(legacyCall(2, `tool ${text}`));
    const params = { uri: `uri:${text}` };
    await session.post({ jsonrpc: '2.0', id: 3, method: 'resources/read', params });
    const clientInfo = { name: `client ${text}`, version: text };
    const meta = { 'io.modelcontextprotocol/clientInfo': clientInfo };
    await house.ask('/mcp/a', modernCall(4, 'pid', {}, { meta }));
    await session.post({ jsonrpc: '2.0', id: 5, method: `method ${text}` });
  }
  await session.post(legacyCall(6, 'fall', { text: `last ${nasty}` }));
  await eventually(() => expect(house.logged()).toContain('stopped with code 1'));
  return house;
}

describe('a log', () => {
  it('for people is one line for each thing, and nothing moves', async () => {
    const house = await provoke('pretty');
    const logged = house.logged().replace(OURS, '');
    const lines = logged.split('\n').slice(0, -1);
    expect(lines.length).toBeGreaterThan(3 * NASTY.length);
    expect(
      lines.filter((line) => !/^\[\d\d:\d\d:\d\d\.\d{3}\] (DEBUG|INFO|WARN|ERROR): /.test(line)),
    ).toEqual([]);
    expect(lines.filter((line) => CONTROLS.test(line)).slice(0, 3)).toEqual([]);
  });

  it('for programs is one object on each line, and none that others wrote', async () => {
    const house = await provoke('json');
    const lines = house.logged().split('\n').slice(0, -1);
    const levels = new Set(lines.map((line) => (JSON.parse(line) as { level: string }).level));
    expect([...levels].sort()).toEqual(['debug', 'error', 'info', 'warn']);
  });
});

it('lines of the control socket are one object each', async () => {
  const house = await provoke('json');
  const control = controlClient(house.controlPath);
  const signal = new AbortController().signal;
  let count = 0;
  for await (const { text } of control.logs('a', { lines: 500, follow: false }, signal)) {
    count += 1;
    expect(text).not.toMatch(/[\r\n]/);
  }
  expect(count).toBeGreaterThan(NASTY.length);
});

it('/metrics keeps one line for each count, whatever the names are', async () => {
  const house = await provoke('json');
  const { text } = await house.ask('/metrics', { method: 'GET' });
  const odd = text.split('\n').filter((line) => line !== '' && !/^(# |[a-z0-9_]+(\{.*\})? \S+$)/s.test(line));
  expect(odd.slice(0, 3)).toEqual([]);
});

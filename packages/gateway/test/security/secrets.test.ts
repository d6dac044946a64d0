/** A secret that a server blurts out, in whatever way, is read by nobody: not in logs, pages, errors or lists of processes. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../../../test/support/until.js';
import { childrenOf } from '../../../sdk/test/support/host-lifetime.js';
import { initialize, legacy, modern, modernCall } from '../../../sdk/test/support/http-server.js';
import { controlClient } from '../../src/control/index.js';
import {
  ALICE,
  type House,
  type HouseOptions,
  KEYS,
  openHouse,
  tellsAll,
  textOf,
} from '../support/secured-gateway.js';
import { commandUnit, urlUnit } from '../support/server-definitions.js';

/** By its name, by its looks, in a header, in a URL, and the keys of callers. */
const SECRETS = {
  token: 'hunter2-tok',
  looks: 'q7Zp0aLw93kdX81mvbT2cYe6',
  header: 'Bearer hdr-4411-secret',
  inUrl: 'url-8823-secret',
  password: 'pass-5599-secret',
  apiKey: KEYS[0]!.key,
} as const;

/** The header is known with and without its scheme. */
const FORMS = [...Object.values(SECRETS), 'hdr-4411-secret'];

const BLURT = `token ${SECRETS.token}, looks ${SECRETS.looks}, key ${SECRETS.apiKey}\n`;

async function opened(format: 'json' | 'pretty', more: HouseOptions = {}): Promise<House> {
  const env = { MY_TOKEN: SECRETS.token, OPAQUE: SECRETS.looks };
  const nowhere = `http://user:${SECRETS.password}@127.0.0.1:1/mcp?token=${SECRETS.inUrl}`;
  const units = [
    tellsAll('a', { env, restart: { attempts: 0 }, stateless: true }),
    commandUnit('falls', ['-e', 'process.stderr.write(process.env.MY_TOKEN);process.exit(3)'], {
      env,
      restart: { attempts: 0 },
      stateless: true,
    }),
    urlUnit('far', nowhere, { headers: { authorization: SECRETS.header } }),
  ];
  return openHouse(units, { keys: KEYS, format, ...more });
}

/** What somebody says who has a secret and no sense of what it is. */
async function blurt(house: House): Promise<string[]> {
  const call = async (path: string, tool: string, args: object = {}) =>
    (await house.ask(path, modernCall(1, tool, args, { headers: ALICE }))).text;
  const said = [
    await call('/mcp/a', 'say', { text: BLURT }),
    // In two pieces, neither of which is a secret.
    await call('/mcp/a', 'say', { text: SECRETS.token.slice(0, 5) }),
    await call('/mcp/a', 'say', { text: `${SECRETS.token.slice(5)}\n` }),
    await call('/mcp/a', 'fall', { text: BLURT }),
    await call('/mcp/a', 'pid'),
    await call('/mcp/falls', 'pid'),
    await call('/mcp/far', 'pid'),
    (await house.ask('/mcp', modern(1, 'tools/list', {}, { headers: ALICE }))).text,
    (await house.ask('/mcp/falls', legacy(initialize(1), ALICE))).text,
    (await house.ask('/mcp/far', legacy(initialize(1), ALICE))).text,
    await call('/mcp', 'falls__pid'),
    await call('/mcp', 'far__pid'),
  ];
  await eventually(() => expect(house.logged()).toContain('code 3'));
  return said;
}

function expectNone(text: string, where: string): void {
  const found = FORMS.filter((secret) => text.includes(secret) || text.includes(encodeURIComponent(secret)));
  expect([where, ...found]).toEqual([where]);
}

describe.each(['json', 'pretty'] as const)('secrets that servers blurt out (%s)', (format) => {
  it('are not in the log, on the pages, in what the control socket tells, or in errors', async () => {
    const house = await opened(format);
    const said = await blurt(house);
    const control = controlClient(house.controlPath);
    const lines: string[] = [];
    for await (const line of control.logs(
      undefined,
      { lines: 1000, follow: false },
      new AbortController().signal,
    )) {
      lines.push(JSON.stringify(line));
    }
    const status = JSON.stringify(await control.status());
    const failure = await control.restart('falls').then(() => '', String);

    // All of it was there to be told.
    expect(house.logged()).toContain('token [redacted], looks [redacted], key [redacted]');
    expect(lines.join()).toContain('token [redacted]');
    expect(status).toContain('[redacted]');
    expect(said.join()).toContain('stopped with code 3');
    for (const text of said) expectNone(text, 'what clients are told');
    expectNone(house.logged(), 'the log');
    expectNone(lines.join('\n'), 'the lines of the control socket');
    expectNone(status, 'the status of the control socket');
    expectNone(failure, 'an error of the control socket');
    for (const page of ['/status', '/metrics', '/readyz']) {
      expectNone((await house.ask(page, { method: 'GET', headers: ALICE })).text, page);
    }
  });
});

it('clients that may read the last stderr lines of a process read them without secrets', async () => {
  const house = await opened('json', { tellsStderr: true, keys: undefined, endpoint: {} } as HouseOptions);
  const said = await blurt(house);
  expect(said.join()).toContain('last stderr');
  for (const text of said) expectNone(text.replaceAll(SECRETS.apiKey, ''), 'last words');
});

it('what only some may know is not among the words that everybody sees of a process', async () => {
  const house = await opened('json');
  expect(textOf(await house.ask('/mcp/a', modernCall(1, 'pid', {}, { headers: ALICE })))).toMatch(/^\d+$/);
  const children = childrenOf(process.pid);
  expect(children.length).toBeGreaterThan(0);
  for (const pid of children) expectNone(readFileSync(`/proc/${pid}/cmdline`, 'utf8'), 'its words');
});

it('a process gets the variables of its own, and none of ours', async () => {
  process.env['GATEWAY_ONLY_SECRET'] = 'ours-7712-secret';
  try {
    const env = { MY_TOKEN: SECRETS.token };
    const house = await openHouse([tellsAll('a', { env }), tellsAll('b')]);
    const ofA = textOf(await house.ask('/mcp/a', modernCall(1, 'environment')));
    const ofB = textOf(await house.ask('/mcp/b', modernCall(1, 'environment')));
    expect(ofA).toContain(SECRETS.token);
    expect(ofA).not.toContain('ours-7712-secret');
    expect(ofB).not.toContain(SECRETS.token);
    expect(ofB).not.toContain('ours-7712-secret');
  } finally {
    delete process.env['GATEWAY_ONLY_SECRET'];
  }
});

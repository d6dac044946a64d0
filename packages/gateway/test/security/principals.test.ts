/** Two callers of one gateway: processes, states of calls, subscriptions and lists of one are never those of the other. */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  type Ask,
  modern,
  modernCall,
  open,
  openSession,
  pause,
  type Stream,
} from '../../../sdk/test/support/http-server.js';
import {
  ALICE,
  BOB,
  EACH_ITS_OWN,
  type House,
  KEYS,
  openHouse,
  tellsAll,
  textOf,
} from '../support/secured-gateway.js';
import { commandUnit } from '../support/server-definitions.js';

type Headers = Record<string, string>;

const program = (name: string) =>
  fileURLToPath(new URL(`../../../../test/bridge-load/programs/${name}`, import.meta.url));
const ALTERED = 'requestState was altered, has expired or belongs to another request';

describe('the process of a server', () => {
  it('is another one for each caller, in either era, alone and among all', async () => {
    const house = await openHouse([tellsAll('a', EACH_ITS_OWN), tellsAll('b', EACH_ITS_OWN)], { keys: KEYS });
    const pidsOf = async (headers: Headers) => {
      const session = await openSession(house.at('/mcp'), { headers });
      const calls = [
        house.ask('/mcp/a', modernCall(1, 'pid', {}, { headers })),
        house.ask('/servers/a/mcp', modernCall(1, 'pid', {}, { headers })),
        house.ask('/mcp', modernCall(1, 'a__pid', {}, { headers })),
        session.post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'a__pid' } }),
      ];
      return [...new Set((await Promise.all(calls)).map(textOf))];
    };
    const [ofAlice, ofBob] = await Promise.all([pidsOf(ALICE), pidsOf(BOB)]);
    expect([ofAlice.length, ofBob.length]).toEqual([1, 1]);
    expect(ofAlice[0]).not.toBe(ofBob[0]);
    const { processes } = (await house.operation.gateway.status()).servers['a']!;
    expect(processes!.processes.map(({ owner, pid }) => [owner, String(pid)]).sort()).toEqual([
      ['key:alice', ofAlice[0]],
      ['key:bob', ofBob[0]],
    ]);
  });

  it('is shared where the server keeps nothing, and refused to the second caller where it may', async () => {
    const stateless = tellsAll('stateless', { stateless: true });
    const house = await openHouse([stateless, tellsAll('shared')], { keys: KEYS });
    const pid = async (path: string, headers: Headers) =>
      textOf(await house.ask(path, modernCall(1, 'pid', {}, { headers })));
    expect(await pid('/mcp/stateless', ALICE)).toBe(await pid('/mcp/stateless', BOB));
    expect(await pid('/mcp/shared', ALICE)).toMatch(/^\d+$/);
    expect(await pid('/mcp/shared', BOB)).toMatch(/^error -32603: shared has one process for all clients/);
    // Nor by way of the address of all.
    const among = await house.ask('/mcp', modernCall(1, 'shared__pid', {}, { headers: BOB }));
    expect(textOf(among)).toMatch(/^error -32603: shared has one process for all clients/);
  });
});

describe('the state of a call that waits for an answer', () => {
  const OLD = commandUnit('old', [program('legacy-lines.mjs')], EACH_ITS_OWN);
  const NEW = commandUnit('new', [program('modern-stdio.mjs')], EACH_ITS_OWN);

  it.each(['old', 'new'])(
    'of a server that is %s is good for its caller only, and survives the other',
    async (name) => {
      const house = await openHouse([OLD, NEW], { keys: KEYS });
      const first = await house.ask(`/mcp/${name}`, elicit(ALICE, 'elicit'));
      const { requestState, inputRequests } = first.json.result;
      expect(typeof requestState).toBe('string');
      const inputResponses = {
        [Object.keys(inputRequests)[0]!]: { action: 'accept', content: { answer: 'fine' } },
      };
      const again = { requestState, inputResponses };
      const refused = async (path: string, request: Ask) => {
        const { error } = (await house.ask(path, request)).json;
        return [error?.code, error?.message];
      };

      expect(await refused(`/mcp/${name}`, elicit(BOB, 'elicit', again))).toEqual([-32602, ALTERED]);
      expect(await refused('/mcp', elicit(BOB, `${name}__elicit`, again))).toEqual([-32602, ALTERED]);
      // Nor at another server, nor for a call of another name, even by its owner.
      const other = name === 'old' ? 'new' : 'old';
      expect(await refused(`/mcp/${other}`, elicit(ALICE, 'elicit', again))).toEqual([-32602, ALTERED]);
      expect(await refused('/mcp', elicit(ALICE, `${other}__elicit`, again))).toEqual([-32602, ALTERED]);
      expect(await refused(`/mcp/${name}`, elicit(ALICE, 'echo', again))).toEqual([-32602, ALTERED]);

      const last = await house.ask(`/mcp/${name}`, elicit(ALICE, 'elicit', again));
      expect(textOf(last)).toBe('well?: fine');
    },
  );
});

function elicit(headers: Headers, tool: string, params: object = {}): Ask {
  return modernCall(1, tool, { text: 'well?' }, { params, headers, capabilities: { elicitation: {} } });
}

describe('news', () => {
  it.each(['legacy', 'modern'])('of the %s process of one caller do not reach the other', async (era) => {
    const unit = commandUnit('a', [program(`${era}-stdio.mjs`)], EACH_ITS_OWN);
    const house = await openHouse([unit, tellsAll('b', EACH_ITS_OWN)], { keys: KEYS });
    const streams = [
      await listen(house, '/mcp/a', ALICE),
      await listen(house, '/mcp', ALICE),
      await listen(house, '/mcp/a', BOB),
      await listen(house, '/mcp', BOB),
    ];
    const heard = () => streams.map(({ text }) => text.split('resources/updated').length - 1);
    const touch = (headers: Headers) =>
      house.ask('/mcp/a', modernCall(1, 'touch', { uri: 'memo://1' }, { headers }));
    expect(textOf(await touch(BOB))).toBe('touched');
    await streams[2]!.until('news', () => heard()[2] === 1);
    await streams[3]!.until('news', () => heard()[3] === 1);
    expect(textOf(await touch(ALICE))).toBe('touched');
    await streams[1]!.until('news', () => heard()[1] === 1);
    await pause(50);
    expect(heard()).toEqual([1, 1, 1, 1]);
  });
});

async function listen(house: House, path: string, headers: Headers): Promise<Stream> {
  const notifications = { resourceSubscriptions: ['memo://1'] };
  const stream = await open(
    house.at(path),
    modern('l', 'subscriptions/listen', { notifications }, { headers }),
  );
  await stream.until('leave to listen', () => stream.text.includes('subscriptions/acknowledged'));
  return stream;
}

it('lists are those of the process of whoever asks', async () => {
  const fixture = fileURLToPath(
    new URL('../../../../test/bridge-matrix/fixtures/v1-stdio.mjs', import.meta.url),
  );
  const house = await openHouse([commandUnit('a', [fixture], EACH_ITS_OWN), tellsAll('b', EACH_ITS_OWN)], {
    keys: KEYS,
  });
  const toolsOf = async (headers: Headers) => {
    const { json } = await house.ask('/mcp', modern(1, 'tools/list', {}, { headers }));
    return (json.result.tools as { name: string }[]).map(({ name }) => name);
  };
  await house.ask('/mcp/a', modernCall(1, 'toggle_extra', { on: true }, { headers: ALICE }));
  expect(await toolsOf(ALICE)).toContain('a__extra');
  expect(await toolsOf(BOB)).not.toContain('a__extra');
  expect(await toolsOf(ALICE)).toContain('a__extra');
});

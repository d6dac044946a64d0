import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Aggregate } from '@isthmus/gateway/internal/aggregate/aggregate.js';
import type { AggregateMember } from '@isthmus/gateway/internal/aggregate/members.js';
import type { Service } from '@isthmus/sdk/internal/exchange/call.js';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { describe, expect, it } from 'vitest';
import { callOf } from '../../packages/gateway/test/support/call-of.js';
import { client } from '../../packages/gateway/test/support/clients.js';
import { freshFolder, openGateway } from '../../packages/gateway/test/support/open-gateway.js';
import { commandUnit } from '../../packages/gateway/test/support/server-definitions.js';
import { ask, modern } from '../../packages/sdk/test/support/http-server.js';
import { FakeClock } from '../support/fake-clock.js';

const program = (name: string) => fileURLToPath(new URL(`programs/${name}`, import.meta.url));
const ABSENT = 'isthmus/absent';

/** `fastmcp` beside a server that hangs at its start as long as a file is there. Time moves only by hand. */
async function besideFastmcp() {
  const clock = new FakeClock();
  const flag = join(freshFolder(), 'hang');
  writeFileSync(flag, '');
  const { url, gateway } = await openGateway(
    [
      commandUnit('late', [program('hangs-while.mjs'), flag], {
        mode: 'legacy',
        connectTimeoutMs: 30_000,
        restart: { attempts: 100 },
      }),
      commandUnit('weather', [program('fastmcp-weather.mjs')]),
    ],
    { clock },
  );
  const list = async () => (await ask(url, modern(1, 'tools/list'))).json.result;
  const toolsOf = (page: { tools: { name: string }[] }) => page.tools.map(({ name }) => name);
  const stateOf = (name: string) => gateway.unit(name).state().state;
  /** Lets time pass, second by second, until the server is in this state. */
  const passUntil = (name: string, state: string) =>
    expect
      .poll(
        () => {
          if (stateOf(name) !== state) clock.advance(1000);
          return stateOf(name);
        },
        { message: `${name} is ${state}` },
      )
      .toBe(state);
  await expect.poll(() => stateOf('weather')).toBe('ready');
  return { flag, list, toolsOf, passUntil, url };
}

describe('P3: a server that hangs at its start', () => {
  it('P3: costs no list any time while it is started again, and is back with list_changed', async () => {
    const { flag, list, toolsOf, passUntil, url } = await besideFastmcp();
    await passUntil('late', 'failed');
    const all = await client(url, 'modern');
    const changes = await all.listen({ tools: true });
    for (let attempt = 0; attempt < 2; attempt += 1) {
      await passUntil('late', 'starting');
      // Time stands still: whatever waits for it would wait for ever.
      const page = await list();
      expect(toolsOf(page)).toEqual(['weather__forecast']);
      expect(page._meta[ABSENT]).toMatchObject([{ server: 'late' }]);
      await passUntil('late', 'failed');
    }
    rmSync(flag);
    await passUntil('late', 'starting');
    for await (const change of changes) {
      expect(change).toMatchObject({ kind: 'tools' });
      break;
    }
    await expect.poll(async () => toolsOf(await list())).toEqual(['late__hello', 'weather__forecast']);
    changes.close();
  });

  it.each(['while it is started for the first time', 'once it has been met'])(
    'P3: costs one list two seconds and the others nothing, %s',
    async (when) => {
      const clock = new FakeClock();
      const aggregate = new Aggregate({ info: { name: 'all', version: '1' }, clock });
      let isMute = when.includes('first time');
      const mute = new Promise<never>(() => {});
      const late = partOf('late', {
        ready: () => (isMute ? mute : undefined),
        handle: () => (isMute ? mute : { tools: [] }),
      });
      aggregate.setMembers([late, partOf('good', { handle: () => ({ tools: [{ name: 'one' }] }) })]);
      const list = async () => {
        let page: JsonObject | undefined;
        void aggregate
          .handle({ ...callOf('alice').call, method: 'tools/list', params: {} })
          .then((result) => {
            page = result;
          });
        const before = clock.now();
        for (let turn = 0; turn < 500; turn += 1) {
          await new Promise((resolve) => setImmediate(resolve));
          if (page) break;
          clock.advance(25);
        }
        return { ms: clock.now() - before, tools: page?.['tools'] };
      };
      if (!isMute) await list();
      isMute = true;
      const waits: number[] = [];
      for (let turn = 0; turn < 4; turn += 1) {
        const { ms, tools } = await list();
        waits.push(ms);
        expect(tools).toEqual([{ name: 'good__one' }]);
      }
      expect(waits).toEqual([2000, 0, 0, 0]);
    },
  );
});

describe('P3: where each principal has a process of its own', () => {
  it('P3: one whose process does not start is told so, and the others are not concerned', async () => {
    // It fails for the first that comes, and only for that one.
    const { url } = await openGateway(
      [
        commandUnit('own', [program('fails-once.mjs'), join(freshFolder(), 'mark')], {
          mode: 'legacy',
          processes: 'per-principal',
          restart: LATER,
        }),
        commandUnit('weather', [program('fastmcp-weather.mjs')], { stateless: true }),
      ],
      { endpoint: { authenticate: async (request) => request.header('x-user') } },
    );
    const toolsOf = async (user: string) => {
      const { json } = await ask(url, modern(1, 'tools/list', {}, { headers: { 'x-user': user } }));
      return json.result.tools.map(({ name }: { name: string }) => name);
    };
    await expect.poll(() => toolsOf('bob')).toEqual(['weather__forecast']);
    expect(await toolsOf('alice')).toEqual(['own__hello', 'weather__forecast']);
    expect(await toolsOf('bob')).toEqual(['weather__forecast']);
  });
});

/** It is not started again in the time of a test. */
const LATER = { attempts: 5, firstDelayMs: 600_000, maxDelayMs: 600_000 };

function partOf(name: string, service: Partial<Service>): AggregateMember {
  const whole = { info: { name, version: '1' }, instructions: undefined, discoveryCache: undefined };
  const capabilities = () => ({ tools: {} });
  return {
    name,
    service: { ...whole, capabilities, watch: () => () => {}, ...service } as Service,
    absence: () => undefined,
  };
}

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { freshFolder } from '../../packages/gateway/test/support/open-gateway.js';
import { ask, modernCall } from '../../packages/sdk/test/support/http-server.js';
import { CAPABILITIES } from '../bridge-load/near/near.js';
import { program } from '../bridge-load/support/far.js';
import { ISTHMUS, startChild } from '../support/child.js';

const LEGACY = [process.execPath, program('legacy-lines.mjs')];

async function served(...args: string[]): Promise<string> {
  const child = startChild(ISTHMUS, { args: ['serve', '--port', '0', '--json', '-q', ...args] });
  const [told] = await child.first(1);
  return (told as unknown as { addresses: [string] }).addresses[0];
}

const elicit = (at: number) =>
  modernCall(1, 'elicit', { text: `q${at}` }, { params: {}, capabilities: CAPABILITIES });

/** How many calls wait after five of them asked and none was answered, and what the page says of the limit. */
async function afterFive(url: string): Promise<unknown> {
  for (let at = 0; at < 5; at += 1) {
    expect((await ask(url, elicit(at))).json.result).toMatchObject({ resultType: 'input_required' });
  }
  const page = new URL('/readyz', url);
  const read = async () => (await (await fetch(page)).json()) as { parked?: number; parkedFull?: boolean };
  await expect.poll(async () => (await read()).parkedFull).toBe(true);
  const { parked, parkedFull } = await read();
  return { parked, parkedFull };
}

it('R1: --max-parked bounds the calls of a command that wait for a person', async () => {
  expect(await afterFive(await served('--max-parked', '2', '--', ...LEGACY))).toEqual({
    parked: 2,
    parkedFull: true,
  });
});

it('R1: maxParked of a server in a file bounds its calls that wait, and --max-parked those of the others', async () => {
  const file = join(freshFolder(), 'servers.json');
  const [command, ...args] = LEGACY;
  const servers = { own: { command, args, maxParked: 3 }, other: { command, args } };
  writeFileSync(file, JSON.stringify({ mcpServers: servers }));
  const url = await served('--max-parked', '2', '--config', file);
  expect(await afterFive(`${url}/own`)).toEqual({ parked: 3, parkedFull: true });
  for (let at = 0; at < 5; at += 1) await ask(`${url}/other`, elicit(at));
  const page = new URL('/readyz', url);
  await expect
    .poll(async () => (await fetch(page)).json())
    .toEqual({ ready: true, parked: 5, parkedFull: true });
});

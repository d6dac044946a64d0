import { controlClient } from '@isthmus/gateway/internal/control/index.js';
import { describe, expect, it } from 'vitest';
import {
  ALICE,
  BOB,
  EACH_ITS_OWN,
  KEYS,
  openHouse,
  tellsAll,
} from '../../packages/gateway/test/support/secured-gateway.js';
import { commandUnit } from '../../packages/gateway/test/support/server-definitions.js';
import { modernCall } from '../../packages/sdk/test/support/http-server.js';

const get = (headers: Record<string, string> = {}) => ({ method: 'GET', headers });
const DIES = ['-e', 'process.stderr.write("the words of a dying server"); process.exit(1)'];

/** Alice is an operator, and Bob is not; a call of Bob is in the counts. */
async function opened() {
  const house = await openHouse([tellsAll('own', EACH_ITS_OWN), commandUnit('dies', DIES)], {
    keys: KEYS,
    operators: ['key:alice'],
  });
  const { gateway } = house.operation;
  await house.ask('/mcp/own', modernCall(1, 'pid', {}, { headers: BOB }));
  await expect.poll(() => gateway.unit('dies').state().state).toBe('failed');
  return house;
}

describe('S4: /status and /metrics', () => {
  it('S4: show an operator everything', async () => {
    const house = await opened();
    const { text } = await house.ask('/status', get(ALICE));
    expect(JSON.parse(text).pid).toBe(process.pid);
    expect(text).toContain('the words of a dying server');
    expect(text).toContain('key:bob');
    const metrics = await house.ask('/metrics', get(ALICE));
    expect([metrics.status, metrics.text.includes('gen_ai_tool_name="pid"')]).toEqual([200, true]);
  });

  it('S4: show another caller how the servers are, and nothing of what others do', async () => {
    const house = await opened();
    const { status, text, json } = await house.ask('/status', get(BOB));
    expect(status).toBe(200);
    expect(json).toEqual({
      ready: false,
      servers: {
        own: { name: 'own', state: 'ready', paths: ['/mcp/own', '/servers/own/mcp'] },
        dies: { name: 'dies', state: 'failed', paths: ['/mcp/dies', '/servers/dies/mcp'] },
      },
    });
    for (const secret of ['words of a dying', 'key:', '"pid"']) expect(text).not.toContain(secret);
    const metrics = await house.ask('/metrics', get(BOB));
    expect([metrics.status, metrics.json.error?.message]).toEqual([
      403,
      'The metrics are for operators: --operator names one',
    ]);
  });

  it('S4: keep to themselves what a process wrote to stderr, where nobody has to say who they are', async () => {
    const house = await openHouse([commandUnit('dies', DIES)]);
    await expect.poll(() => house.operation.gateway.unit('dies').state().state).toBe('failed');
    const { text } = await house.ask('/status', get());
    expect(text).not.toContain('words of a dying');
    expect(JSON.parse(text).servers.dies.processes.lastExit).toMatchObject({
      phase: 'start',
      stderrTail: '',
    });
    const proxied = await house.ask('/status', get({ 'x-forwarded-for': '192.0.2.7' }));
    expect(Object.keys(proxied.json)).toEqual(['ready', 'servers']);
  });

  it('S4: are complete over the private socket', async () => {
    const house = await opened();
    const control = controlClient(house.controlPath);
    const status = JSON.stringify(await control.status());
    expect(status).toContain('the words of a dying server');
    expect(status).toContain('key:bob');
  });
});

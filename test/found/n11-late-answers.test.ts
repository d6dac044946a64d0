import { createHost, type HostEvent } from '@isthmus/sdk';
import { expect, it, onTestFinished } from 'vitest';
import { until } from '../support/until.js';

/** A legacy server that has a second tool for clients that can be asked. */
const SERVER = `
  let canAsk = false;
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    const answer = (body) => console.log(JSON.stringify({ jsonrpc: '2.0', id, ...body }));
    if (id === undefined) return;
    if (method === 'initialize') {
      canAsk = 'elicitation' in params.capabilities;
      const serverInfo = { name: 'old', version: '1' };
      return answer({ result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo } });
    }
    const tools = ['plain', ...(canAsk ? ['asks'] : [])].map((name) => ({ name, inputSchema: { type: 'object' } }));
    if (method === 'tools/list') return answer({ result: { tools } });
    answer({ error: { code: -32601, message: 'Method not found' } });
  });
`;
const answers = { elicit: () => ({ action: 'decline' as const }) };

function openHost(more: { restart?: false } = {}) {
  const old = { command: process.execPath, args: ['-e', SERVER], mode: 'legacy', ...more };
  const host = createHost({ servers: { old }, ledger: false, cache: false });
  onTestFinished(() => host.close());
  const seen: HostEvent[] = [];
  host.watch((event) => seen.push(event));
  return { host, undeclared: () => seen.filter(({ kind }) => kind === 'undeclared') };
}

const namesOf = (tools: readonly { name: string }[]) => tools.map(({ name }) => name);

it('N11: an idle legacy server is started again for a conversation that can answer more', async () => {
  const { host, undeclared } = openHost();
  const first = host.conversation('old');
  expect(namesOf(await first.listTools())).toEqual(['plain']);
  await first.close();
  const second = host.conversation('old', { answers });
  expect(undeclared()).toMatchObject([{ capabilities: ['elicitation'], restarts: true, generation: 1 }]);
  await until('the new process', () =>
    host.snapshot('old')?.processes.some(({ generation }) => generation === 2),
  );
  expect(namesOf(await second.listTools({ fresh: true }))).toEqual(['plain', 'asks']);
});

it('N11: one that others use is not, and the event says so', async () => {
  const { host, undeclared } = openHost();
  await host.conversation('old').listTools();
  const second = host.conversation('old', { answers });
  expect(undeclared()).toMatchObject([{ capabilities: ['elicitation'], restarts: false }]);
  expect(namesOf(await second.listTools())).toEqual(['plain']);
  await host.restart('old');
  expect(namesOf(await second.listTools({ fresh: true }))).toEqual(['plain', 'asks']);
});

it('N11: restart: false is respected', async () => {
  const { host, undeclared } = openHost({ restart: false });
  const first = host.conversation('old');
  await first.listTools();
  await first.close();
  host.conversation('old', { answers });
  expect(undeclared()).toMatchObject([{ restarts: false }]);
});

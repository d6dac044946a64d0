import type { Client } from '@isthmus/sdk/client';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../../../test/support/until.js';
import { client, ERAS } from '../support/clients.js';
import { type Opened, openGateway } from '../support/open-gateway.js';
import { demoUnit } from '../support/server-definitions.js';
import { openFar, withTools } from '../support/upstream.js';

/** What a client hears, of lists and of `demo://clock`. */
async function hearing(all: Client): Promise<string[]> {
  const heard: string[] = [];
  const changes = await all.listen({ tools: true, uris: ['demo://clock'] });
  void (async () => {
    for await (const change of changes) heard.push(change.kind === 'resource' ? change.uri : change.kind);
  })().catch(() => {});
  return heard;
}

/** Its tools and the resource change, until that is heard. */
async function hearsChanges(all: Client, heard: string[]): Promise<void> {
  heard.length = 0;
  await eventually(async () => {
    await all.callTool('demo__touch');
    expect(new Set(heard)).toEqual(new Set(['tools', 'demo://clock']));
  });
}

const pidOf = async ({ status }: Opened) => (await status()).servers['demo']!.processes!.processes[0]?.pid;

describe.each(ERAS)('what a %s client listens to at the address of all is listened to again', (era) => {
  async function listening() {
    const good = await openFar(withTools('one'));
    const opened = await openGateway([demoUnit('demo', { restart: { firstDelayMs: 1 } }), good.unit('good')]);
    const all = await client(opened.url, era);
    const heard = await hearing(all);
    await hearsChanges(all, heard);
    return { opened, all, heard };
  }

  it('when the server was switched off and on', async () => {
    const { opened, all, heard } = await listening();
    await opened.gateway.unit('demo').switch(false);
    await expect(all.callTool('demo__touch')).rejects.toThrow('switched off');
    await opened.gateway.unit('demo').switch(true);
    await hearsChanges(all, heard);
  });

  it('when its process was killed', async () => {
    const { opened, all, heard } = await listening();
    const pid = (await pidOf(opened))!;
    process.kill(pid, 'SIGKILL');
    await eventually(async () => expect(await pidOf(opened)).not.toBe(pid));
    await hearsChanges(all, heard);
  });

  it('when it was restarted', async () => {
    const { opened, all, heard } = await listening();
    await opened.gateway.unit('demo').restart();
    await hearsChanges(all, heard);
  });

  it('when its definition has changed', async () => {
    const { opened, all, heard } = await listening();
    const [demo, good] = opened.gateway.definitions;
    opened.gateway.apply([demoUnit('demo', { env: { A: '1' } }), good!]);
    await hearsChanges(all, heard);
    opened.gateway.apply([demoUnit('demo', { tools: { deny: ['crash'] } }), good!]);
    await hearsChanges(all, heard);
    expect(demo!.name).toBe('demo');
  });
});

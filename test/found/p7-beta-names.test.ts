import { connect } from '@isthmus/sdk';
import { expect, it, onTestFinished } from 'vitest';
import { PlayedServer } from '../../packages/sdk/test/support/client/played-server.js';

it('P7: the name of a beta server, which has serverInfo at the top level, is kept', async () => {
  const server = new PlayedServer();
  const connecting = connect(server, { cache: false });
  const played = await server.accept();
  const probe = await played.next();
  played.answer(probe, {
    resultType: 'complete',
    supportedVersions: ['2026-07-28'],
    capabilities: {},
    serverInfo: { name: 'beta', version: '2.0.0-beta.3' },
    ttlMs: 0,
    cacheScope: 'private',
  });
  const client = await connecting;
  onTestFinished(() => client.close());
  expect(client.server.info).toEqual({ name: 'beta', version: '2.0.0-beta.3' });
  expect(client.verdict.warnings).toEqual([
    'draft shape: its answer to server/discover has serverInfo at the top level instead of in _meta, as drafts of 2026-07-28 had it',
  ]);
});

it('P7: the name in _meta wins, and needs no warning (DISC-004)', async () => {
  const server = new PlayedServer();
  const connecting = connect(server, { cache: false });
  const played = await server.accept();
  const probe = await played.next();
  played.answer(probe, {
    resultType: 'complete',
    supportedVersions: ['2026-07-28'],
    capabilities: {},
    serverInfo: { name: 'other', version: '0' },
    _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'right', version: '1' } },
  });
  const client = await connecting;
  onTestFinished(() => client.close());
  expect(client.server.info).toEqual({ name: 'right', version: '1' });
  expect(client.verdict.warnings).toBeUndefined();
});

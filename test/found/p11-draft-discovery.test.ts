import { fileURLToPath } from 'node:url';
import { connect, createBridge, memory, stdio } from '@isthmus/sdk';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isthmus, node } from '../../packages/cli/test/support/isthmus.js';

const DRAFT = fileURLToPath(new URL('programs/draft-discover.mjs', import.meta.url));
const WARNING =
  'draft shape: its answer to server/discover has protocolVersion instead of supportedVersions and serverInfo ' +
  'at the top level instead of in _meta, as drafts of 2026-07-28 had it';

describe('a server whose server/discover answers in the shape of a draft', () => {
  it('P11: is read as modern, with its name and a warning, and its results without resultType are complete', async () => {
    const client = await connect(stdio({ command: process.execPath, args: [DRAFT] }), { cache: false });
    onTestFinished(() => client.close());
    expect([client.era, client.revision]).toEqual(['modern', '2026-07-28']);
    expect(client.server.info).toEqual({ name: 'demo-mcp', version: '1.2.3' });
    expect(client.verdict.warnings).toEqual([WARNING]);
    expect(client.verdict.supported).toEqual(['2026-07-28']);
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['add']);
    expect((await client.callTool('add', {})).content).toEqual([{ type: 'text', text: '5' }]);
  });

  it('P11: is described by probe as modern, with its name and the warning', async () => {
    const { code, stdout } = await isthmus('probe', '--json', ...node(DRAFT));
    expect(code).toBe(0);
    const report = JSON.parse(stdout);
    expect([report.era, report.server.name]).toEqual(['modern', 'demo-mcp']);
    expect(report.odd).toContainEqual({ code: 'draft-shape', message: `D${WARNING.slice(1)}` });
  });

  it('P11: is judged by isthmus check, and fails the check of its discovery once (DISC-003)', async () => {
    const only = ['shapes/server-discover', 'versions/listed-are-served', 'era/supported-is-true'];
    const options = only.flatMap((id) => ['--only', id]);
    const { code, stdout } = await isthmus('check', '--json', ...options, ...node(DRAFT));
    expect(code).toBe(1);
    const report = JSON.parse(stdout);
    expect(report.eras).toMatchObject([
      { era: 'modern', revision: '2026-07-28', server: { name: 'demo-mcp', version: '1.2.3' }, tools: 1 },
    ]);
    const outcomes = report.findings.map(({ id, outcome }: Record<string, string>) => [id, outcome]);
    expect(Object.fromEntries(outcomes)).toEqual({
      'shapes/server-discover': 'fail',
      'versions/listed-are-served': 'skip',
      'era/supported-is-true': 'skip',
    });
    const failed = report.findings.find(({ outcome }: Record<string, string>) => outcome === 'fail');
    expect(failed.seen).toBe('server/discover: result.supportedVersions: expected an array, got nothing');
    expect(failed.rules).toEqual(['DISC-003']);
  });

  it('P11: keeps its name and its results for a client behind isthmus serve', async () => {
    const bridge = createBridge(stdio({ command: process.execPath, args: [DRAFT] }), { cache: false });
    onTestFinished(() => bridge.close());
    const client = await connect(memory(bridge), { mode: 'legacy' });
    onTestFinished(() => client.close());
    expect(client.server.info).toEqual({ name: 'demo-mcp', version: '1.2.3' });
    expect((await client.callTool('add', {})).content).toEqual([{ type: 'text', text: '5' }]);
  });
});

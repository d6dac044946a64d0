import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connect, createBridge, memory, stdio } from '../../src/index.js';
import { isthmus, node } from '../cli/support.js';

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

  it('P11: keeps failing isthmus check, which quotes the answer that is not a DiscoverResult (DISC-003)', async () => {
    const { code, stderr } = await isthmus('check', ...node(DRAFT));
    expect(code).toBe(4);
    expect(stderr).toContain(
      'modern: server/discover was answered with something else: {"protocolVersion":"2026-07-28",',
    );
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

/** Real bridges in front of the demo: ours loses nothing, and what another loses is named. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createDemoServer } from 'isthmus/internal/demo/demo-server.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ISTHMUS } from '../../../../test/support/child.js';
import { checkThrough, type Difference, serverTarget, startBridge } from '../../src/index.js';

const MCP_PROXY = fileURLToPath(
  new URL('../../../../benchmarks/node_modules/mcp-proxy/dist/bin/mcp-proxy.mjs', import.meta.url),
);

describe('the demo through isthmus serve', () => {
  it('is the same over HTTP', async () => {
    expect(await differences([ISTHMUS, 'serve', '-q', '--port', '{port}'])).toEqual([]);
  });

  it('is the same over stdio', async () => {
    expect(await differences([ISTHMUS, 'serve', '-q', '--listen', 'stdio'])).toEqual([]);
  });
});

describe.skipIf(!existsSync(MCP_PROXY))('the demo through mcp-proxy', () => {
  it('loses its questions, and logs of modern requests', async () => {
    const found = await differences([
      MCP_PROXY,
      '--port',
      '{port}',
      '--server',
      'stream',
      '--',
      '{command...}',
    ]);
    expect(found).toContainEqual({
      kind: 'worse',
      era: 'legacy',
      about: 'questions of tools/call test_url_elicitation',
      direct:
        '[{"method":"elicitation/create","params":{"message":"Please sign in","mode":"url","url":"https://example.com/sign-in"}}]',
      through: '[]',
    });
    expect(found).toContainEqual({
      kind: 'worse',
      era: 'modern',
      about: 'tools/call test_missing_capability',
      direct: 'content[0].text: "The client declared sampling"',
      through: 'content[0].text: "The client did not declare sampling"',
    });
    expect(found).toContainEqual({
      kind: 'worse',
      era: 'modern',
      about: 'notifications of tools/call test_logging_tool',
      direct:
        '[{"method":"notifications/message","params":{"data":"logged by test_logging_tool","level":"info"}}]',
      through: '[]',
    });
    expect(found.map(({ about }) => about)).not.toContain('tool echo');
  });
});

/** What is not the same, but for what is better; the program is one of Node. */
async function differences(program: readonly string[]): Promise<Difference[]> {
  const bridge = await startBridge({
    words: [process.execPath, ...program],
    server: { command: [process.execPath, ISTHMUS, 'demo'] },
    inheritEnv: 'all',
  });
  onTestFinished(() => bridge.close());
  const direct = serverTarget(createDemoServer());
  const report = await checkThrough(direct, bridge.target, { seed: 1, only: ['ping/*', 'tools/declared'] });
  return report.differences.filter((each) => each.kind !== 'better' && !isOfTasks(each));
}

/**
 * Ours runs every tool of a modern server with tasks as one, and says so to legacy clients. It serves a plain call of a tool
 * that runs only as a task, too: it waits for the end, which is an error here.
 */
function isOfTasks({ about, through }: Difference): boolean {
  if (about === 'tools/call protocol_error_job') return through === 'error.code: -32603';
  return about.startsWith('tool ') && /^execution.*"optional"}?$/.test(through);
}

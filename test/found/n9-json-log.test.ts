import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { freshFolder } from '../../packages/gateway/test/support/open-gateway.js';
import { type Child, fixture, ISTHMUS, startChild } from '../support/child.js';

const SERVER = [process.execPath, fixture('server-echoes-in-step.mjs')];

/** Every line of stderr is a JSON object. */
function linesOf(child: Child): Record<string, unknown>[] {
  const lines = child.stderr.split('\n').filter(Boolean);
  return lines.map((line) => {
    const value: unknown = JSON.parse(line);
    expect(value).toMatchObject({
      level: expect.any(String),
      time: expect.any(String),
      msg: expect.any(String),
    });
    return value as Record<string, unknown>;
  });
}

describe('N9: serve --log-format json writes JSON lines only', () => {
  it('N9: for one server, with its addresses', async () => {
    const args = ['serve', '--log-format', 'json', '--port', '0', '--', ...SERVER];
    const child = startChild(ISTHMUS, { args });
    await child.until('the server', () => child.stderr.includes('Behind it'));
    const serving = linesOf(child).find(({ event }) => event === 'serving');
    expect(serving).toMatchObject({
      level: 'info',
      msg: expect.stringMatching(/^serving at http:/),
      addresses: [expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/)],
    });
  });

  it('N9: for the servers of a file', async () => {
    const file = join(freshFolder(), 'mcp.json');
    const [command, ...args] = SERVER;
    writeFileSync(file, JSON.stringify({ mcpServers: { one: { command, args } } }));
    const child = startChild(ISTHMUS, {
      args: ['serve', '--config', file, '--log-format', 'json', '--port', '0'],
    });
    await child.until('the server', () => child.stderr.includes('is ready'));
    await child.until('addresses', () => child.stderr.includes('"event":"serving"'));
    linesOf(child);
  });

  it('N9: for a failure, with its hint', async () => {
    const args = ['serve', '--log-format', 'json', '--port', '0', '--', 'no-such-command-here'];
    const child = startChild(ISTHMUS, { args });
    expect((await child.exit()).code).toBe(3);
    expect(linesOf(child).at(-1)).toMatchObject({ level: 'error', hint: expect.any(String) });
  });
});

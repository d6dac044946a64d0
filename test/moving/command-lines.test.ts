/** Every command line of docs/moving.md: that it means the same as before, and that it serves. */
import { execFileSync } from 'node:child_process';
import { connect } from '@isthmus/sdk/client';
import { http } from '@isthmus/sdk/http';
import type { Connector } from '@isthmus/sdk/internal/exchange/connection.js';
import { serve } from '@isthmus/sdk/internal/server/serve.js';
import { stdio } from '@isthmus/sdk/stdio';
import { attachCommand } from 'isthmus/internal/commands/attach.js';
import { serveCommand } from 'isthmus/internal/commands/serve.js';
import type { CommandLine } from 'isthmus/internal/compat/flags.js';
import { toOurOptions } from 'isthmus/internal/compat/to-our-options.js';
import { createDemoServer } from 'isthmus/internal/demo/demo-server.js';
import { splitAtDashes } from 'isthmus/internal/target.js';
import { describe, expect, it } from 'vitest';
import { useDaemonHome } from '../../packages/gateway/test/support/daemon-home.js';
import { moves } from './read-page.js';
import { startLine } from './start-line.js';
import { openWorkshop, type Workshop } from './workshop.js';

const home = useDaemonHome();
const MOVES = moves();

it('the page has lines of all four programs', () => {
  const chapters = [...new Set(MOVES.map(({ chapter }) => chapter))];
  expect(chapters).toEqual(['supergateway', 'mcp-proxy of npm', 'mcp-proxy of PyPI', 'mcp-remote']);
  expect(MOVES).toHaveLength(32);
});

describe('what was typed before means the same', () => {
  it.each(MOVES)('$before', async ({ before, here }) => {
    const { folder } = openWorkshop();
    const inFolder = (line: string) => line.replace('headers.txt', `${folder}/headers.txt`);
    const typed = wordsOf(inFolder(before)).slice(before.startsWith('npx ') ? 2 : 1);
    const [, name = '', ...ours] = wordsOf(inFolder(here));
    expect(await meant(name, typed)).toEqual(await meant(name, ours));
  });
});

describe('what the page says is served', () => {
  it.each([...new Set(MOVES.map(({ chapter }) => chapter))])(
    'in the words for users of %s',
    async (chapter) => {
      const workshop = openWorkshop();
      const lines = [...new Set(MOVES.filter((move) => move.chapter === chapter).map(({ here }) => here))];
      await using far = await serve(createDemoServer(), http({ port: 0, sse: true }));
      const remote = far.addresses[0]!.replace(/\/mcp$/, '');
      const here = lines.map((line) =>
        line.replaceAll('https://example.com', remote).replace(/\b80[08]0\b/, '0'),
      );
      await eachOf(here, 3, (line) => answers(line, workshop));
    },
  );
});

/** It is connected to, and its demo server gives back what it got. */
async function answers(line: string, workshop: Workshop): Promise<void> {
  if (/^isthmus attach | --listen stdio/.test(line)) {
    const env = { ...workshop.env, ...home.env };
    return echoes(
      stdio({ command: '/bin/sh', args: ['-c', `exec ${line}`], env, cwd: workshop.folder }),
      line,
    );
  }
  await using started = await startLine(line, workshop);
  await echoes(http(started.url, { headers: { 'x-api-key': 'k3y' } }), line);
}

async function echoes(connector: Connector, line: string): Promise<void> {
  await using client = await connect(connector, { cache: false });
  const tools = await client.listTools();
  const echo = tools.find(({ name }) => /^(\w+__)?echo$/.test(name));
  const { content } = await client.callTool(echo?.name ?? 'echo', { text: 'hi' });
  expect(content, line).toEqual([{ type: 'text', text: 'hi' }]);
}

/** What a line means to us. */
function meant(name: string, typed: readonly string[]): Promise<CommandLine> {
  const { head: args, behind: afterDashes } = splitAtDashes(typed);
  const command = name === 'attach' ? attachCommand(undefined) : serveCommand(undefined);
  return toOurOptions(name, command, { args, afterDashes });
}

/** As a shell takes a line apart. */
function wordsOf(line: string): string[] {
  const env = { TOKEN: 's3cret', KEY: 'k3y' };
  const text = execFileSync('/bin/sh', ['-c', `printf '%s\\n' ${line}`], { encoding: 'utf8', env });
  return text.split('\n').slice(0, -1);
}

/** All of them, some at a time. */
async function eachOf<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = [...items];
  const worker = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

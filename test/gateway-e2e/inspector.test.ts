/** The official Inspector, as a program, against `isthmus serve` and `isthmus attach`. It is installed with the referee. */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { http } from '@isthmus/sdk/http';
import { serve } from '@isthmus/sdk/server';
import { createDemoServer } from 'isthmus/internal/demo/demo-server.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EVERYTHING } from '../../packages/cli/test/support/isthmus.js';
import { ensureInstalled } from '../../scripts/setup.js';
import { processesWith, type ServedFile, serveFile } from '../solved/support/serve-file.js';
import { ISTHMUS } from '../support/child.js';
import { until } from '../support/until.js';

const installed = fileURLToPath(new URL('../../conformance/node_modules/', import.meta.url));
const NODE = join(installed, 'node/bin/node');
const INSPECTOR = join(installed, '@modelcontextprotocol/inspector/clients/launcher/build/index.js');
// Where npm cannot get it, there is nothing to run.
const problem = await ensureInstalled('conformance').then(
  () => (existsSync(NODE) && existsSync(INSPECTOR) ? undefined : 'it is not in conformance/node_modules'),
  (error: Error) => error.message,
);
if (problem !== undefined) console.warn(`The Inspector is left out: ${problem}`);

let gateway: ServedFile;
let folder: string;

/** Runs it; fails when it does not exit with 0. Its result is on stdout. */
async function inspect(era: string, target: readonly string[], ...args: string[]) {
  const words = ['--cli', '-q', '--format', 'json', '--protocol-era', era, ...target, ...args];
  const { stdout } = await promisify(execFile)(NODE, [INSPECTOR, ...words], { cwd: folder, timeout: 25_000 });
  return JSON.parse(stdout).result;
}

describe.runIf(problem === undefined)('the Inspector', () => {
  beforeAll(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'isthmus-inspector-')));
    const everything = { command: process.execPath, args: [EVERYTHING] };
    gateway = await serveFile({ everything, demo: { command: process.execPath, args: [ISTHMUS, 'demo'] } });
    // The file of a host that launches the shim.
    const file = join(folder, 'servers.json');
    writeFileSync(file, JSON.stringify({ mcpServers: { everything } }));
    const attach = {
      command: process.execPath,
      args: [ISTHMUS, 'attach', 'everything', '--config', file, '--grace', '1000'],
      env: { ISTHMUS_RUNTIME_DIR: join(folder, 'run'), XDG_CACHE_HOME: folder, XDG_STATE_HOME: folder },
    };
    writeFileSync(join(folder, 'host.json'), JSON.stringify({ mcpServers: { shim: attach } }));
  });

  afterAll(async () => {
    await gateway?.reap();
    const left = () => processesWith(`ISTHMUS_RUNTIME_DIR=${join(folder, 'run')}`);
    await until('the daemon has gone', () => left().length === 0, 15_000).finally(() => {
      for (const pid of left()) process.kill(pid, 'SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    });
  });

  it.each(['legacy', 'modern'])(
    'in the era %s lists, calls, reads and prompts through isthmus serve',
    async (era) => {
      const target = [gateway.url];
      const [listed, called, resources, prompts] = await Promise.all([
        inspect(era, target, '--method', 'tools/list', '--strict'),
        inspect(era, target, ...calling('everything__echo', 'message=hi')),
        inspect(era, target, '--method', 'resources/list'),
        inspect(era, target, '--method', 'prompts/list'),
      ]);
      const names = namesIn(listed.tools);
      expect(names).toEqual(expect.arrayContaining(['everything__get-sum', 'demo__echo']));
      expect(called.content).toEqual([{ type: 'text', text: 'Echo: hi' }]);
      // Only modern results say who the server is.
      expect(called._meta !== undefined).toBe(era !== 'legacy');
      expect(resources.resources.map(({ uri }: { uri: string }) => uri)).toEqual(
        expect.arrayContaining(['demo://resource/static/document/features.md', 'demo://clock']),
      );
      expect(namesIn(prompts.prompts)).toContain('everything__args-prompt');
    },
  );

  it('finds the era by itself, and it is the modern one', async () => {
    const shim = ['--config', join(folder, 'host.json'), '--server', 'shim'];
    const answers = await Promise.all([
      inspect('auto', [gateway.url], ...calling('demo__echo', 'text=hi')),
      inspect('auto', shim, ...calling('echo', 'message=hi')),
    ]);
    expect(answers.map(({ content }) => content[0].text)).toEqual(['hi', 'Echo: hi']);
    expect(answers.map(({ _meta }) => _meta !== undefined)).toEqual([true, true]);
  });

  it.each(['legacy', 'modern'])(
    'in the era %s lists and calls through isthmus attach, on stdio',
    async (era) => {
      const target = ['--config', join(folder, 'host.json'), '--server', 'shim'];
      const [listed, called] = await Promise.all([
        inspect(era, target, '--method', 'tools/list', '--strict'),
        inspect(era, target, ...calling('get-sum', 'a=2', 'b=3')),
      ]);
      expect(namesIn(listed.tools)).toContain('get-sum');
      expect(called.content).toEqual([{ type: 'text', text: 'The sum of 2 and 3 is 5.' }]);
      expect(called._meta !== undefined).toBe(era !== 'legacy');
    },
  );

  it.each(['legacy', 'modern'])(
    'in the era %s runs tools as tasks and waits for their results, directly and through isthmus serve',
    async (era) => {
      const direct = await serve(createDemoServer(), http({ port: 0 }));
      const targets = [
        ['', direct.addresses[0]!],
        ['demo__', gateway.url],
      ] as const;
      try {
        for (const [prefix, url] of targets) {
          const computing = calling(`${prefix}slow_compute`, 'seconds=0.1', 'label=x');
          const { content } = await inspect(era, [url], ...computing);
          expect(content).toEqual([{ type: 'text', text: 'Computed x in 0.1 s' }]);
          // It runs only as a task: a plain call is refused with another error.
          const failing = inspect(
            era,
            [url],
            '--method',
            'tools/call',
            '--tool-name',
            `${prefix}failing_job`,
          );
          const { stdout, stderr } = await failing.catch((error) => error);
          expect(`${stdout}${stderr}`).toContain('This job always fails');
        }
      } finally {
        await direct.close({ graceMs: 0 });
      }
    },
  );

  it('makes 200 calls, 20 at a time, without an error', async () => {
    const load = ['--load', '--load-requests', '200', '--load-concurrency', '20'];
    expect(await inspect('modern', [gateway.url], ...calling('demo__echo', 'text=x'), ...load)).toMatchObject(
      {
        ok: 200,
        errors: 0,
        toolErrors: 0,
      },
    );
  });
});

function calling(tool: string, ...args: string[]): string[] {
  return ['--method', 'tools/call', '--tool-name', tool, '--tool-arg', ...args];
}

function namesIn(items: readonly { readonly name: string }[]): string[] {
  return items.map(({ name }) => name);
}

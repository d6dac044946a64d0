import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { askInputs } from 'isthmus/internal/serve/read-gateway-servers.js';
import { createPrompter } from 'isthmus/internal/terminal/ask-form.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { freshFolder } from '../../packages/gateway/test/support/open-gateway.js';
import { ask, modernCall } from '../../packages/sdk/test/support/http-server.js';
import { fixture, ISTHMUS, startChild } from '../support/child.js';
import { eventually } from '../support/until.js';

const ECHO = [fixture('server-echoes-in-step.mjs')];

/** A file as VS Code writes it. */
function vscodeFile(): string {
  const file = join(freshFolder(), 'mcp.json');
  const document = {
    inputs: [
      { type: 'promptString', id: 'token', description: 'The token of the service', password: true },
      { type: 'pickString', id: 'region', description: 'The region', options: ['eu', 'us'] },
      { type: 'promptString', id: 'team', default: 'all' },
      { type: 'promptString', id: 'unused' },
    ],
    servers: {
      first: {
        command: process.execPath,
        args: ECHO,
        // biome-ignore-start lint/suspicious/noTemplateCurlyInString: as it is in the file
        env: { TOKEN: '${input:token}', REGION: '${input:region}', TEAM: '${input:team}' },
      },
      off: { command: process.execPath, args: ['${input:other}'], disabled: true },
      // biome-ignore-end lint/suspicious/noTemplateCurlyInString: as it is in the file
    },
  };
  writeFileSync(file, JSON.stringify(document));
  return file;
}

it('P6: serve takes --input for a VS Code file, and its server can be used', async () => {
  const words = ['--input', 'token=s3cret-of-mine', '--input', 'region=eu'];
  const args = ['serve', '--config', vscodeFile(), '--port', '0', '--json', '-q', ...words];
  const child = startChild(ISTHMUS, { args });
  const [told] = await child.first(1);
  const [url] = (told as unknown as { addresses: [string] }).addresses;
  await eventually(async () => {
    expect((await ask(url, modernCall(1, 'echo', { text: 'hi' }))).json.result?.content).toEqual([
      { type: 'text', text: 'hi' },
    ]);
  });
  expect(child.stderr).not.toContain('s3cret-of-mine');
});

it('P6: without a value and without a terminal the server is not started, and the log says how to give it one', async () => {
  const args = ['serve', '--config', vscodeFile(), '--port', '0', '--json', '-q', '--input', 'region=eu'];
  const child = startChild(ISTHMUS, { args });
  await child.until('the reason', () => child.stderr.includes('set it with --input token='));
});

it('P6: --input is refused where no file is served', async () => {
  const child = startChild(ISTHMUS, { args: ['serve', '--input', 'a=b', '--port', '0', '--', 'true'] });
  expect((await child.exit()).code).toBe(2);
  expect(child.stderr).toContain('--input is for many servers, and this is one');
});

describe('P6: what is missing is asked for', () => {
  async function play(typed: Record<string, string>, given: Record<string, string> = {}) {
    const [input, output] = [new PassThrough(), new PassThrough()];
    let shown = '';
    output.setEncoding('utf8').on('data', (text: string) => {
      shown += text;
      for (const [id, value] of Object.entries(typed)) {
        if (!shown.includes(`[--input ${id}]: `)) continue;
        delete typed[id];
        // When the question is open, which is after it was written.
        setImmediate(() => input.write(`${value}\n`));
      }
    });
    const prompter = createPrompter(input, output, { terminal: true, onInterrupt: () => {} });
    const answer = await askInputs([vscodeFile()], given, prompter, new AbortController().signal);
    return { ...answer, shown };
  }

  it('P6: with its description, each once, and a password is not shown', async () => {
    const { inputs, secrets, shown } = await play({ token: 'hunter22', region: 'eu' });
    expect(inputs).toEqual({ token: 'hunter22', region: 'eu' });
    expect(secrets).toEqual(['hunter22']);
    expect(shown).toContain('The token of the service [--input token]: ');
    expect(shown).toContain('The region (eu, us) [--input region]: ');
    expect(shown).not.toContain('hunter22');
    expect(shown).not.toContain('team');
    expect(shown).not.toContain('unused');
  });

  it('P6: what --input has given is not asked', async () => {
    const { inputs, shown } = await play({ region: 'us' }, { token: 'given' });
    expect(inputs).toEqual({ token: 'given', region: 'us' });
    expect(shown).not.toContain('token');
  });
});

const hasScript = spawnSync('script', ['--version']).status === 0;

it.runIf(process.platform === 'linux' && hasScript)(
  'P6: on a real terminal serve asks, hides the password, and serves',
  async () => {
    const line = `exec ${process.execPath} ${ISTHMUS} serve --config ${vscodeFile()} --port 0`;
    const terminal = spawn('script', ['-qc', line, '/dev/null'], { stdio: ['pipe', 'pipe', 'ignore'] });
    onTestFinished(() => void terminal.kill('SIGKILL'));
    let shown = '';
    terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
      shown += text;
    });
    await eventually(() => expect(shown).toContain('[--input token]: '));
    terminal.stdin.write('hunter22\r');
    await eventually(() => expect(shown).toContain('[--input region]: '));
    terminal.stdin.write('eu\r');
    const url = await eventually(() => {
      const [found] = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(shown) ?? [];
      expect(found, shown).toBeDefined();
      return found!;
    });
    await eventually(async () => {
      expect((await ask(url, modernCall(1, 'echo', { text: 'hi' }))).status).toBe(200);
    });
    expect(shown).not.toContain('hunter22');
  },
);

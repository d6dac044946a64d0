/** Lines of users of other programs, and variables, with real processes. */
import { readFileSync } from 'node:fs';
import { afterEach, expect, it, vi } from 'vitest';
import { type Child, fixture, ISTHMUS, startChild } from '../../../../test/support/child.js';
import { initialize } from '../../../../test/support/messages.js';
import { freeFolder, isthmus } from '../support/isthmus.js';

afterEach(() => void vi.unstubAllEnvs());

const DEMO = `${process.execPath} ${ISTHMUS} demo`;

async function served(...args: string[]): Promise<{ readonly child: Child; readonly url: string }> {
  const child = startChild(ISTHMUS, { args: ['serve', '--json', '-q', ...args] });
  const [line] = (await child.first(1)) as unknown as [{ addresses: string[] }];
  return { child, url: line.addresses[0]! };
}

function post(url: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify(initialize(1)),
  });
}

it('variables serve, ask who comes, and give way to what is typed', async () => {
  vi.stubEnv('ISTHMUS_PORT', '0');
  vi.stubEnv('ISTHMUS_UPSTREAM', 'http://127.0.0.1:9/away');
  vi.stubEnv('ISTHMUS_API_KEY', 'ada=first second');
  const { url } = await served('--stdio', DEMO, '--stateless', '--healthEndpoint', '/up');
  expect((await post(url)).status).toBe(401);
  expect((await post(url, { 'x-api-key': 'wrong' })).status).toBe(401);
  for (const key of ['first', 'second']) {
    const answer = await post(url, { 'x-api-key': key });
    expect(answer.status).toBe(200);
    // Where there are no sessions, nobody is given one.
    expect(answer.headers.get('mcp-session-id')).toBeNull();
    expect(await answer.text()).toContain('isthmus-demo');
  }
  expect((await fetch(new URL('/up', url))).status).toBe(200);
});

it('an invalid variable is named, and keys are not shown', async () => {
  vi.stubEnv('ISTHMUS_PORT', 'many');
  vi.stubEnv('ISTHMUS_API_KEY', 's3cret');
  const { code, stderr } = await isthmus('serve');
  expect(code).toBe(2);
  expect(stderr).toContain(
    "value 'many' from env 'ISTHMUS_PORT' is invalid. It must be a port, from 0 to 65535.",
  );
  expect(stderr).not.toContain('s3cret');
});

it('many servers of one line are served by name, and known to the commands that ask', async () => {
  const { url, child } = await served(
    '--port',
    '0',
    '--named-server',
    'one',
    DEMO,
    '--named-server',
    'two',
    `${DEMO} --era legacy`,
  );
  const names = async (...words: string[]) => (await isthmus('completion', 'names', '--', ...words)).stdout;
  const [all, one, offered] = await Promise.all([
    isthmus('list', url),
    isthmus('list', url.replace(/mcp$/, 'servers/two/mcp')),
    names('restart', '--pid', String(child.pid)),
  ]);
  expect(all.stdout).toMatch(/^one__echo /m);
  expect(all.stdout).toMatch(/^two__echo /m);
  expect(one.stdout).toMatch(/^echo /m);
  expect(offered.split('\n')).toEqual(expect.arrayContaining(['one', 'two']));
});

it('a bare address is served, and --sse speaks the old transport on stdin and stdout', async () => {
  const { url: far } = await served('--port', '0', '--ssePath', '/events', '--messagePath', '/post');
  const [{ url }, old] = await Promise.all([
    served('--port', '0', far),
    (async () => {
      const child = startChild(ISTHMUS, { args: ['serve', '-q', '--sse', far.replace(/mcp$/, 'events')] });
      child.send(initialize(1));
      return child.answer(1);
    })(),
  ]);
  expect((await post(url)).status).toBe(200);
  expect(old).toMatchObject({ result: { serverInfo: { name: 'isthmus-demo' } } });
});

it('a shell gets what only a shell understands, and the command gets the environment that is passed on', async () => {
  vi.stubEnv('ISTHMUS_API_KEY', 's3cret');
  vi.stubEnv('OURS', 'ours');
  const file = `${freeFolder()}/environment`;
  const tell = `X=$OURS ${process.execPath} ${fixture('child-that-tells-its-environment.mjs')}`;
  const { child } = await served(
    '--pass-environment',
    '--port',
    '0',
    '--stdio',
    `${tell} > ${file}; ${DEMO}`,
  );
  const told = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
  expect(told).toMatchObject({ OURS: 'ours', X: 'ours' });
  expect(JSON.stringify(told)).not.toContain('s3cret');
  child.kill('SIGTERM');
  expect(await child.exit()).toEqual({ code: 0, signal: null });
});

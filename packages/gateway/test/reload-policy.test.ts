import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ISTHMUS, startChild } from '../../../test/support/child.js';
import { eventually } from '../../../test/support/until.js';
import { type Answer, ask, legacyCall, modernCall, openSession } from '../../sdk/test/support/http-server.js';
import { type ServedFile, serveFile } from './support/serve-file.js';

const PROGRAM = `
import { existsSync } from 'node:fs';
import { createServer, serve, stdio } from '${new URL('../../sdk/dist/index.js', import.meta.url).pathname}';
const server = createServer({ name: 'work', version: '1' });
server.tool('ready', {}, () => 'ready');
const input = { type: 'object', properties: { file: { type: 'string' } } };
// It waits until the file is there.
server.tool('wait', { input }, async ({ file }) => {
  while (file && !existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 10));
  return 'waited';
});
await serve(server, stdio());
`;

const work = { command: process.execPath, args: ['--input-type=module', '-e', PROGRAM] };
const withRules = (rules: unknown) => ({
  mcpServers: { work, other: work },
  gateway: { access: { rules } },
});
const DENIED = [{ effect: 'deny', principals: ['key:ci'], tools: ['wait'] }];
const CI = { 'x-api-key': 'ci-9d81c04be7aa' };
const DEV = { 'x-api-key': 'dev-52f0aa613cbb' };

const serveRules = (rules: unknown) =>
  serveFile(
    withRules(rules),
    '--api-key',
    `ci=${CI['x-api-key']}`,
    '--api-key',
    `dev=${DEV['x-api-key']}`,
    '--operator',
    'key:dev',
  );

function call(served: ServedFile, path: string, tool: string, headers: Record<string, string>, args = {}) {
  return ask(`${served.origin}${path}`, modernCall(1, tool, args, { headers }));
}

const said = ({ messages }: Answer) => messages.at(-1)!.result?.content?.[0].text ?? messages.at(-1)!.error;

it('rules that change while calls run: these end as they began, and later ones follow the new rules', async () => {
  const served = await serveRules([]);
  const file = join(served.folder, 'go');
  const session = await openSession(`${served.origin}/mcp/work`, { headers: CI });
  const running = [
    call(served, '/mcp/work', 'wait', CI, { file }),
    call(served, '/mcp', 'work__wait', CI, { file }),
    session.post(legacyCall(2, 'wait', { file })),
  ];
  const runningAt = async () => {
    const { servers } = await statusOf(served);
    return servers['work']?.processes?.inFlight;
  };
  await eventually(async () => expect(await runningAt()).toBe(3));
  served.write(withRules(DENIED));
  const unknown = { code: -32602, message: 'Unknown tool: wait' };
  await eventually(async () =>
    expect(said(await call(served, '/mcp/work', 'wait', CI))).toMatchObject(unknown),
  );
  expect(said(await call(served, '/mcp', 'work__wait', CI))).toMatchObject(unknown);
  expect(said(await session.post(legacyCall(3, 'wait')))).toMatchObject(unknown);
  expect(said(await call(served, '/mcp/work', 'ready', CI))).toBe('ready');
  expect(said(await call(served, '/mcp/work', 'wait', DEV))).toBe('waited');
  expect(await runningAt()).toBe(3);
  writeFileSync(file, '');
  for (const answer of running) expect(said(await answer)).toBe('waited');
});

it('rules that are wrong change nothing, and the log, the status and isthmus reload say what is wrong', async () => {
  const served = await serveRules(DENIED);
  await eventually(async () => expect(said(await call(served, '/mcp/work', 'ready', CI))).toBe('ready'));
  served.write(withRules([{ effect: 'alow', tools: ['*'] }]));
  const problem = 'gateway.access.rules[0].effect';
  await eventually(async () => expect((await statusOf(served)).configProblem).toContain(problem));
  expect(served.child.stderr).toContain('configuration rejected, keeping the old one: ');
  expect(served.child.stderr).toContain(problem);
  const reload = async () => {
    const env = { PATH: process.env['PATH'] ?? '', XDG_RUNTIME_DIR: join(served.folder, 'run') };
    const child = startChild(ISTHMUS, { args: ['reload', '--pid', String(served.child.pid)], env });
    const { code } = await child.exit();
    return { code, stderr: child.stderr };
  };
  const refused = await reload();
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain(problem);
  const message = 'Unknown tool: wait';
  expect(said(await call(served, '/mcp/work', 'wait', CI))).toMatchObject({ message });
  served.write(withRules([]));
  expect((await reload()).code).toBe(0);
  expect(said(await call(served, '/mcp/work', 'wait', CI))).toBe('waited');
  expect((await statusOf(served)).configProblem).toBeUndefined();
});

async function statusOf(served: ServedFile) {
  const { text } = await ask(`${served.origin}/status`, { method: 'GET', headers: DEV });
  return JSON.parse(text) as Awaited<ReturnType<ServedFile['status']>>;
}

import { readFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import { ensureBuilt } from '../../../scripts/setup.js';
import { ISTHMUS } from '../../../test/support/child.js';
import { eventually } from '../../../test/support/until.js';
import { isthmus } from '../../cli/test/support/isthmus.js';
import { ask, modern } from '../../sdk/test/support/http-server.js';
import { serveFile } from './support/serve-file.js';

const text = readFileSync(new URL('../../../docs/gateway.md', import.meta.url), 'utf8');
const blocks = [...text.matchAll(/```(\w*)\n([\s\S]*?)```/g)].map(([, kind, body]) => ({
  kind,
  body: body!,
}));

beforeAll(() => ensureBuilt());

it('docs/gateway.md shows what its file and its commands really do', async () => {
  const [config, absent] = blocks.filter(({ kind }) => kind === 'json').map(({ body }) => JSON.parse(body));
  for (const server of Object.values<{ command: string; args?: string[] }>(config.mcpServers)) {
    if (server.command !== 'isthmus') continue;
    server.command = process.execPath;
    server.args = [ISTHMUS, ...server.args!];
  }
  const served = await serveFile(config);
  await eventually(async () => expect(await served.get('/readyz')).toBe(200));
  const commands = blocks.filter(({ body }) => body.startsWith('$ isthmus '));
  expect(commands).toHaveLength(3);
  for (const { body } of commands) {
    const [line, ...lines] = body.split('\n') as [string, ...string[]];
    const words = line.slice('$ isthmus '.length).replace('http://127.0.0.1:8080', served.origin).split(' ');
    expect((await isthmus(...words)).stdout.split('\n'), line).toEqual(lines);
  }
  const list = await ask(`${served.origin}/mcp`, modern(1, 'tools/list'));
  expect(list.json.result._meta['isthmus/absent']).toEqual(absent._meta['isthmus/absent']);
});

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the references of configuration files look like that.
/** The block `gateway`: what goes for all servers of the files. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ReadOptions, readServers } from '../../src/config/index.js';
import { folderWith } from '../support/config.js';

async function gateway(block: unknown, options: ReadOptions = {}, key = 'gateway') {
  const folder = folderWith({ 'a.json': JSON.stringify({ $schema: 's', mcpServers: {}, [key]: block }) });
  const { gateway, problems } = await readServers(join(folder, 'a.json'), { env: {}, ...options });
  return { gateway, problems: problems.map((each) => `${each.severity} ${each.key}: ${each.message}`) };
}

describe('the block gateway', () => {
  it('is read', async () => {
    const block = {
      separator: '.',
      listen: ['http://127.0.0.1:0/mcp', 'unix:/run/mcp.sock', 'tcp://[::1]:4000', 'stdio'],
      limits: { maxConcurrent: 100, maxQueue: 0 },
      drainMs: 0,
      patienceMs: 5000,
    };
    expect(await gateway(block)).toEqual({ gateway: block, problems: [] });
  });

  it('takes one address as a list of one, and a port from the environment', async () => {
    const listen = 'http://127.0.0.1:${PORT:-8080}/mcp';
    expect((await gateway({ listen })).gateway).toEqual({ listen: ['http://127.0.0.1:8080/mcp'] });
    expect((await gateway({ listen: [listen] }, { env: { PORT: '99' } })).gateway).toEqual({
      listen: ['http://127.0.0.1:99/mcp'],
    });
  });

  it.each<[unknown, readonly string[]]>([
    [[], ['error gateway: must be an object, not a list']],
    [{ separator: '' }, ['error gateway.separator: must be 1 to 8 of the characters A-Z a-z 0-9 _ - . /']],
    [{ separator: ' ' }, ['error gateway.separator: must be 1 to 8 of the characters A-Z a-z 0-9 _ - . /']],
    [{ drainMs: -1 }, ['error gateway.drainMs: must be a number of milliseconds, 0 or more']],
    [
      { limits: { ratePerMinute: 0 } },
      ['error gateway.limits.ratePerMinute: must be a whole number, 1 or more'],
    ],
    [
      { listen: ['8080'] },
      [
        'error gateway.listen: must be an address such as http://127.0.0.1:8080/mcp, unix:PATH, tcp://HOST:PORT or stdio, or a list of them',
      ],
    ],
    [{ listen: ['http://127.0.0.1:${PORT}/mcp'] }, ['error gateway.listen[0]: the variable PORT is not set']],
    [{ seperator: '.' }, ['warning gateway.seperator: is not known; did you mean separator?']],
    [{ other: 1 }, ['warning gateway.other: is not known']],
  ])('cannot be %j', async (block, problems) => {
    expect(await gateway(block)).toEqual({ gateway: {}, problems });
  });

  it('keeps what is right beside what is wrong', async () => {
    expect((await gateway({ separator: '-', drainMs: 'x' })).gateway).toEqual({ separator: '-' });
  });

  it('is suggested for a name that is one slip away', async () => {
    expect((await gateway({}, {}, 'gatewy')).problems).toEqual([
      'warning gatewy: is not known; did you mean gateway?',
    ]);
  });

  it('may stand in a file without servers', async () => {
    const folder = folderWith({
      'a.json': '{ "gateway": { "separator": "." } }',
      'b.toml': '[gateway]\ndrainMs = 7',
    });
    expect(await readServers(['a.json', 'b.toml'], { cwd: folder })).toEqual({
      servers: {},
      problems: [],
      gateway: { separator: '.', drainMs: 7 },
    });
  });

  it('of a later file wins, word by word', async () => {
    const folder = folderWith({
      'a.json': '{ "gateway": { "separator": ".", "limits": { "maxQueue": 1, "maxConcurrent": 1 } } }',
      'b.json': '{ "gateway": { "drainMs": 5, "limits": { "maxQueue": 2 } } }',
    });
    expect((await readServers(['a.json', 'b.json'], { cwd: folder })).gateway).toEqual({
      separator: '.',
      drainMs: 5,
      limits: { maxQueue: 2, maxConcurrent: 1 },
    });
  });
});

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

  it('names every mistake in the block access, each with its place', async () => {
    const block = {
      access: {
        scopes: { all: ['a b'], tolls: {}, readOnly: 'x', other: ['a', 'offline_access'] },
        servers: { mail: { methods: ['x'] } },
        implies: { admin: 'write' },
        rules: [{ effect: 'denny' }, { effect: 'deny', tolls: ['x'] }, { tools: ['x'] }, 'deny'],
        default: 'no',
      },
    };
    const { gateway: read, problems } = await gateway(block);
    expect(read).toEqual({});
    expect(problems).toEqual([
      'error gateway.access.scopes.all: "a b" is not a scope',
      'error gateway.access.scopes.tolls: is not known; did you mean tools?',
      'error gateway.access.scopes.readOnly: must be a list of scopes',
      // AUTH-S-010.
      'error gateway.access.scopes.other: offline_access is about refresh tokens, and opens nothing here: leave it out',
      'error gateway.access.servers.mail.methods: must be an object',
      'error gateway.access.implies.admin: must be a list of scopes',
      'error gateway.access.rules[0].effect: must be allow or deny',
      'error gateway.access.rules[1].tolls: is not known; did you mean tools?',
      'error gateway.access.rules[2]: needs effect',
      'error gateway.access.rules[3]: must be an object',
      'error gateway.access.default: must be allow or deny',
    ]);
  });

  it('warns of rules that fit nothing: they restrict nothing', async () => {
    const access = {
      servers: { mial: { all: ['x'] } },
      rules: [
        { effect: 'deny', servers: ['fils', 'ma*'] },
        { effect: 'deny', principals: ['ada', 'key:ada', 'anonymous', '*', 'jwt:https://login.example|*'] },
      ],
    };
    const files = {
      'a.json': JSON.stringify({ mcpServers: { mail: { command: 'x' } }, gateway: { access } }),
    };
    const { problems } = await readServers(join(folderWith(files), 'a.json'), { env: {} });
    expect(problems.map((each) => `${each.severity} ${each.key}: ${each.message}`)).toEqual([
      'warning gateway.access.servers.mial: there is no server "mial"; did you mean mail?',
      'warning gateway.access.rules[0].servers: there is no server "fils"',
      'warning gateway.access.rules[1].principals: "ada" is the name of no caller; they begin with key: or jwt:',
    ]);
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

  it('says how to join a cluster, with references and files of its own project', async () => {
    const cluster = {
      url: 'rediss://isthmus:${PASSWORD}@redis',
      name: 'blue',
      listen: 'http://0.0.0.0:7946',
      advertise: 'http://${POD_IP}:7946',
      secretFile: '${RUN:-/run}/secret',
      tlsCert: 'tls/cert.pem',
      tlsKey: '/etc/key.pem',
      tlsCa: '../ca.pem',
      events: 'owner',
      drainDelayMs: 0,
    };
    const env = { PASSWORD: 'p', POD_IP: '10.0.0.7' };
    expect(await gateway({ cluster }, { env, workspaceFolder: '/srv/app' })).toEqual({
      gateway: {
        cluster: {
          ...cluster,
          url: 'rediss://isthmus:p@redis',
          advertise: 'http://10.0.0.7:7946',
          secretFile: '/run/secret',
          tlsCert: '/srv/app/tls/cert.pem',
          tlsCa: '/srv/ca.pem',
        },
      },
      problems: [],
    });
  });

  it.each<[unknown, string]>([
    ['redis://a', 'gateway.cluster: must be an object'],
    [{ url: 'http://redis' }, 'gateway.cluster.url: must be redis://HOST:PORT'],
    [{ name: 'a b' }, 'gateway.cluster.name: must be 1 to 64 letters'],
    [{ listen: '0.0.0.0:7946' }, 'gateway.cluster.listen: must be http://HOST:PORT'],
    [{ advertise: 'http://a:1/x' }, 'gateway.cluster.advertise: must be http://HOST:PORT'],
    [{ events: 'none' }, 'gateway.cluster.events: must be shared or owner'],
    [{ drainDelayMs: -1 }, 'gateway.cluster.drainDelayMs: must be a number of milliseconds'],
    [{ tlsCert: '' }, 'gateway.cluster.tlsCert: must be the name of a file'],
    [{ advertize: 'http://a:1' }, 'gateway.cluster.advertize: is not known; did you mean advertise?'],
    [{ secret: 's'.repeat(32) }, 'gateway.cluster.secret: does not belong into this file: write secretFile'],
    [{ advertise: 'http://${NOT_SET}:1' }, 'gateway.cluster.advertise: the variable NOT_SET is not set'],
  ])('cannot join a cluster with %j', async (cluster, problem) => {
    const { gateway: read, problems } = await gateway({ cluster });
    expect(read).toEqual({});
    expect(problems).toEqual([expect.stringContaining(`error ${problem}`)]);
    // The value could be a secret.
    expect(problems.join()).not.toContain('sssss');
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
      'a.json':
        '{ "gateway": { "separator": ".", "limits": { "maxQueue": 1, "maxConcurrent": 1 }, "cluster": { "url": "redis://a", "name": "a" } } }',
      'b.json':
        '{ "gateway": { "drainMs": 5, "limits": { "maxQueue": 2 }, "cluster": { "url": "redis://b" } } }',
    });
    expect((await readServers(['a.json', 'b.json'], { cwd: folder })).gateway).toEqual({
      separator: '.',
      drainMs: 5,
      limits: { maxQueue: 2, maxConcurrent: 1 },
      cluster: { url: 'redis://b', name: 'a' },
    });
  });
});

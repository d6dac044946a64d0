// Which servers are judged: our own, the official ones, those of real-servers.js, and bridges.
// The bridges come from benchmarks/.

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { REAL_SERVERS } from './real-servers.js';

/**
 * `command` over stdio, or `words` with a `{port}` over HTTP.
 * @typedef {object} Subject
 * @property {string} name
 * @property {string} of The package.
 * @property {string} [at] The folder of the package, where it is not in node_modules of the root.
 * @property {string[]} [command]
 * @property {string[]} [shown] The command as the page shows it.
 * @property {string[]} [words]
 * @property {Record<string, string>} [env]
 * @property {boolean} [callTools]
 * @property {boolean} [noTools]
 */

/** The servers that are judged. */
export function allServers() {
  const files = mkdtempSync(join(tmpdir(), 'isthmus-scoreboard-'));
  const reference = (name) => `node_modules/@modelcontextprotocol/server-${name}/dist/index.js`;
  const everything = ['node', reference('everything'), 'stdio'];
  return [
    { name: 'isthmus demo, stdio', of: 'isthmus', command: ['node', 'bin/isthmus.js', 'demo'] },
    {
      name: 'isthmus demo, HTTP',
      of: 'isthmus',
      words: ['node', 'bin/isthmus.js', 'demo', '--listen', 'http://127.0.0.1:{port}/mcp'],
    },
    {
      name: 'official SDK v2 fixture, stdio',
      of: '@modelcontextprotocol/server',
      command: ['node', 'test/interop/peers/official-v2-server.mjs'],
      callTools: true,
    },
    {
      name: 'official SDK v2 fixture, HTTP',
      of: '@modelcontextprotocol/server',
      words: ['node', 'packages/check/test/suites/peers/official-v2-http.mjs', '{port}'],
      callTools: true,
    },
    {
      name: 'official SDK v1 fixture, stdio',
      of: '@modelcontextprotocol/sdk',
      command: ['node', 'test/interop/peers/official-v1-server.mjs'],
      callTools: true,
    },
    {
      name: 'official SDK v1 fixture, HTTP',
      of: '@modelcontextprotocol/sdk',
      words: ['node', 'packages/check/test/suites/peers/official-v1-http.mjs', '{port}'],
      callTools: true,
    },
    { name: 'server-everything, stdio', of: '@modelcontextprotocol/server-everything', command: everything },
    {
      name: 'server-everything, HTTP',
      of: '@modelcontextprotocol/server-everything',
      words: ['env', 'PORT={port}', 'node', reference('everything'), 'streamableHttp'],
    },
    {
      name: 'server-filesystem, stdio',
      of: '@modelcontextprotocol/server-filesystem',
      command: ['node', reference('filesystem'), files],
      shown: ['node', reference('filesystem'), '/some/folder'],
    },
    {
      name: 'server-memory, stdio',
      of: '@modelcontextprotocol/server-memory',
      command: ['node', reference('memory')],
      env: { MEMORY_FILE_PATH: join(files, 'memory.jsonl') },
    },
    ...REAL_SERVERS,
    ...bridges(everything),
  ];
}

/** server-everything behind each bridge. */
function bridges(everything) {
  const at = (name) => `benchmarks/node_modules/${name}`;
  return [
    {
      name: 'server-everything through isthmus serve',
      of: 'isthmus',
      words: ['node', 'bin/isthmus.js', 'serve', '--port', '{port}', '--', ...everything],
    },
    {
      name: 'server-everything through mcp-proxy',
      of: 'mcp-proxy',
      at: at('mcp-proxy'),
      words: [
        'node',
        `${at('mcp-proxy')}/dist/bin/mcp-proxy.mjs`,
        '--port',
        '{port}',
        '--server',
        'stream',
        '--',
        ...everything,
      ],
    },
    {
      name: 'server-everything through supergateway',
      of: 'supergateway',
      at: at('supergateway'),
      words: [
        'node',
        `${at('supergateway')}/dist/index.js`,
        '--port',
        '{port}',
        '--outputTransport',
        'streamableHttp',
        '--stateful',
        '--stdio',
        everything.join(' '),
      ],
    },
  ];
}

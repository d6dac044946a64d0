/** What an installation consists of. `test/package/pack.test.ts` packs and installs it with npm, in a folder of its own. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { ensureBuilt } from '../../scripts/setup.js';
import { legacyHttp, modernHttp } from '../bridge-load/near/http.js';
import { program } from '../bridge-load/support/far.js';
import { call, said } from './support/gateway.js';
import { serveFile } from './support/serve-file.js';

beforeAll(() => ensureBuilt());

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (name: string) => JSON.parse(readFileSync(join(root, name), 'utf8'));

const PACKAGES = ['sdk', 'gateway', 'check', 'console', 'cli'];

interface Locked {
  readonly version: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly peer?: boolean;
  /** A package of this repository. */
  readonly link?: boolean;
}

it('D-18 sparfenyuk/mcp-proxy#235: no release of an SDK can reach an installation, and all that can has a range and a lock', () => {
  for (const name of PACKAGES) {
    const manifest = read(`packages/${name}/package.json`) as Record<string, Record<string, string>>;
    const { dependencies, peerDependencies } = manifest;
    const names = Object.keys({ ...dependencies, ...peerDependencies });
    expect(names.filter((each) => each.startsWith('@modelcontextprotocol/'))).toEqual([]);
    for (const [each, range] of Object.entries(dependencies!)) {
      // A new major version is never installed by itself (nor a new minor one of 0.x). Our packages have one version.
      if (each.startsWith('@isthmus/')) expect(range).toBe(read('package.json').version);
      else expect(range).toMatch(/^\^(?:[1-9]\d*\.\d+|0\.[1-9]\d*)\.\d+$/);
    }
  }
  for (const [path, { integrity, version }] of production()) {
    expect([path, version]).toEqual([path, read(join(path, 'package.json')).version]);
    expect(integrity, path).toMatch(/^sha512-/);
  }
});

it('D-18 sparfenyuk/mcp-proxy#235: with what is locked for users and nothing else, the gateway serves both eras', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-clean-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const installed = join(folder, 'node_modules/isthmus');
  for (const name of PACKAGES) {
    const to = name === 'cli' ? installed : join(folder, 'node_modules/@isthmus', name);
    for (const part of ['package.json', 'dist']) copy(join(root, 'packages', name, part), join(to, part));
  }
  copy(join(root, 'packages/cli/bin'), join(installed, 'bin'));
  for (const [path] of production()) copy(join(root, path), join(folder, path));
  const far = { command: process.execPath, args: [program('legacy-lines.mjs')] };
  const gateway = await serveFile({ far }, { program: join(installed, 'bin/isthmus.js') });
  onTestFinished(() => gateway.reap());
  for (const near of [await legacyHttp(gateway.url, 'legacy'), modernHttp(gateway.url, 'modern')]) {
    expect(said(await call(near, 'echo', { text: near.name }))).toBe(near.name);
  }
  expect((await gateway.get('/metrics')).text).toContain('mcp_server_operation_duration_seconds');
});

/** What users get, with its path in the lock. Peers that they may bring are left out. */
function production(): [path: string, locked: Locked][] {
  const { packages } = read('package-lock.json') as { packages: Record<string, Locked> };
  return Object.entries(packages).filter(
    ([path, { dev, peer, link }]) => path.startsWith('node_modules/') && !dev && !peer && !link,
  );
}

/** A program of the system does it ten times as fast as Node. */
function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  execFileSync('cp', ['-R', from, to]);
}

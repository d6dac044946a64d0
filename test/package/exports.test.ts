import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { ensureBuilt } from '../../scripts/setup.js';
import { runProgram } from './run-program.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const manifest: {
  readonly exports: Record<string, string | { readonly types: string; readonly default: string }>;
} = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

const subpaths = Object.entries(manifest.exports);
const modules = subpaths.flatMap(([subpath, target]) =>
  typeof target === 'string' ? [] : [{ name: `isthmus${subpath.slice(1)}`, ...target }],
);

beforeAll(() => ensureBuilt(), 120_000);

describe('the exports of the package', () => {
  it('are the promised ones', () => {
    expect(subpaths.map(([subpath]) => subpath)).toEqual([
      '.',
      './wire',
      './server',
      './client',
      './stdio',
      './socket',
      './http',
      './host',
      './bridge',
      './check',
      './package.json',
    ]);
  });

  it.each(modules)('$name has a module and its declarations', (module) => {
    expect([module.default, module.types].filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  it.each(modules)('$name loads, says nothing and lets the process end', async ({ name }) => {
    const source = `
      const module = await import('${name}');
      if (Object.keys(module).length === 0) process.exitCode = 3;
    `;
    expect(await runModule(source)).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('isthmus/package.json can be read', async () => {
    const source = `
      import { createRequire } from 'node:module';
      console.log(createRequire(import.meta.url)('isthmus/package.json').name);
    `;
    expect(await runModule(source)).toEqual({ code: 0, stdout: 'isthmus\n', stderr: '' });
  });

  it('nothing else of the package can be imported', async () => {
    const source = `
      await import('isthmus/dist/index.js').catch((error) => console.log(error.code));
    `;
    expect((await runModule(source)).stdout).toBe('ERR_PACKAGE_PATH_NOT_EXPORTED\n');
  });
});

describe.each(['isthmus/server', 'isthmus/client', 'isthmus/stdio', 'isthmus/socket'])('%s', (name) => {
  it('loads neither child processes nor HTTP', async () => {
    expect(await loadedBuiltins(name, ['child_process', 'http', 'https', 'http2'])).toEqual([]);
  });

  it('leaves ajv, jose and cross-spawn until they are used', async () => {
    expect(await loadedPackages(name)).toEqual([]);
  });
});

describe('the two checks above', () => {
  it('notice a loaded builtin', async () => {
    expect(await loadedBuiltins('node:child_process', ['child_process', 'http'])).toEqual(['child_process']);
    expect(await loadedBuiltins('node:http', ['child_process', 'http'])).toEqual(['http']);
  });

  it.each(['ajv', 'jose'])('notice that %s was imported', async (name) => {
    expect(await loadedPackages(name)).toContain(name);
  });

  it.each(['ajv', 'commander'])('notice that %s was required', async (name) => {
    const viaRequire = `data:text/javascript,${encodeURIComponent(
      `import { createRequire } from 'node:module'; createRequire('${import.meta.url}')('${name}');`,
    )}`;
    expect(await loadedPackages(viaRequire)).toContain(name);
  });
});

/** Which of these builtin modules a fresh process holds after importing a module, and did not hold before. */
async function loadedBuiltins(name: string, builtins: readonly string[]): Promise<string[]> {
  const source = `
    const before = new Set(process.moduleLoadList);
    await import(${JSON.stringify(name)});
    console.log(JSON.stringify(process.moduleLoadList.filter((entry) => !before.has(entry))));
  `;
  const { code, stdout, stderr } = await runModule(source);
  expect(code, stderr).toBe(0);
  const loaded: string[] = JSON.parse(stdout);
  return builtins.filter((builtin) => loaded.includes(`NativeModule ${builtin}`));
}

/**
 * Which packages of node_modules a fresh process holds after importing a module. A loader hook sees what is
 * imported, the cache of `require` shows the rest. The hook runs in a thread of its own, so it writes to a
 * file descriptor rather than to a variable.
 */
async function loadedPackages(name: string): Promise<string[]> {
  const hook = `
    import { writeSync } from 'node:fs';
    export async function load(url, context, nextLoad) {
      writeSync(1, url + '\\n');
      return nextLoad(url, context);
    }
  `;
  const source = `
    import { createRequire, register } from 'node:module';
    register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(hook)}));
    await import(${JSON.stringify(name)});
    for (const path of Object.keys(createRequire(import.meta.url).cache)) console.log(path);
  `;
  const { code, stdout, stderr } = await runModule(source);
  expect(code, stderr).toBe(0);
  const packages = stdout
    .replaceAll('\\', '/')
    .split('\n')
    .flatMap((line) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(line)?.[1] ?? []);
  return [...new Set(packages)];
}

/** Runs a module's source in the checkout, where the package can import itself by name. */
function runModule(source: string) {
  return runProgram(process.execPath, ['--input-type=module', '--eval', source], {
    cwd: root,
    limitMs: 20_000,
    // Whatever the test runner was started with (colours, warnings, loaders) is not under test.
    env: { ...process.env, NODE_OPTIONS: '', NODE_V8_COVERAGE: '' },
  });
}

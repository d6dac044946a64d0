import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { ensureBuilt } from '../../scripts/setup.js';
import { runProgram } from './run-program.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
interface Target {
  readonly '@isthmus/source': string;
  readonly types: string;
  readonly default: string;
}

/** What each package promises to those who import it; `internal/` is for the other packages of this repository. */
const PROMISED: Record<string, readonly string[]> = {
  sdk: [
    '.',
    './wire',
    './server',
    './client',
    './stdio',
    './socket',
    './http',
    './host',
    './oauth',
    './bridge',
    './llm',
    './cluster',
    './tasks/redis',
    './tasks/sqlite',
  ],
  gateway: ['.'],
  check: ['.'],
  console: ['.'],
  cli: [
    '.',
    './wire',
    './server',
    './client',
    './stdio',
    './socket',
    './http',
    './host',
    './bridge',
    './llm',
    './cluster',
    './check',
  ],
};

const packages = Object.keys(PROMISED).map((folder) => {
  const path = join(root, 'packages', folder);
  const manifest = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as {
    readonly name: string;
    readonly exports: Record<string, string | Target>;
  };
  return { folder, path, ...manifest };
});
const modules = packages.flatMap(({ folder, path, name, exports }) =>
  PROMISED[folder]!.map((subpath) => ({
    name: `${name}${subpath.slice(1)}`,
    path,
    target: exports[subpath] as Target,
  })),
);

beforeAll(() => ensureBuilt(), 120_000);

describe.each(packages)('the exports of $name', ({ folder, name, exports }) => {
  it('are the promised ones', () => {
    expect(Object.keys(exports)).toEqual([...PROMISED[folder]!, './internal/*.js', './package.json']);
  });

  it('let its manifest be read, and nothing that is not exported', async () => {
    const source = `
      import { createRequire } from 'node:module';
      console.log(createRequire(import.meta.url)('${name}/package.json').name);
      await import('${name}/dist/index.js').catch((error) => console.log(error.code));
    `;
    expect(await runModule(source)).toEqual({
      code: 0,
      stdout: `${name}\nERR_PACKAGE_PATH_NOT_EXPORTED\n`,
      stderr: '',
    });
  });
});

describe.each(modules)('$name', ({ name, path, target }) => {
  it('has a source, a module and its declarations', () => {
    expect(Object.values(target).filter((each) => !existsSync(join(path, each)))).toEqual([]);
  });

  it('loads, says nothing and lets the process end', async () => {
    const source = `
      const module = await import('${name}');
      if (Object.keys(module).length === 0) process.exitCode = 3;
    `;
    expect(await runModule(source)).toEqual({ code: 0, stdout: '', stderr: '' });
  });
});

it('isthmus is the sdk under another name', async () => {
  const source = `
    const [ours, sdk] = await Promise.all([import('isthmus'), import('@isthmus/sdk')]);
    console.log(Object.keys(ours).length > 20, Object.keys(sdk).every((key) => ours[key] === sdk[key]));
  `;
  expect((await runModule(source)).stdout).toBe('true true\n');
});

describe.each(['@isthmus/sdk/server', '@isthmus/sdk/client', '@isthmus/sdk/stdio', '@isthmus/sdk/socket'])(
  '%s',
  (name) => {
    it('loads neither child processes nor HTTP', async () => {
      expect(await loadedBuiltins(name, ['child_process', 'http', 'https', 'http2'])).toEqual([]);
    });

    it('leaves ajv, jose and cross-spawn until they are used', async () => {
      expect(await loadedPackages(name)).toEqual([]);
    });
  },
);

it('@isthmus/sdk/server loads no client, no HTTP, no process and no config code', async () => {
  const folders = (await loadedModules('@isthmus/sdk/server')).map((each) => each.split('/')[0]!);
  expect([...new Set(folders)].sort()).toEqual([
    ...['arguments.js', 'async', 'era', 'errors.js', 'events.js', 'exchange', 'near-miss.js'],
    ...['schema', 'server', 'wire'],
  ]);
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

/** Which packages of node_modules a fresh process holds after importing a module. */
async function loadedPackages(name: string): Promise<string[]> {
  const packages = (await loadedFiles(name)).flatMap(
    (file) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? [],
  );
  return [...new Set(packages)];
}

/** Which modules of the sdk a fresh process holds after importing a module, as paths in its dist/. */
async function loadedModules(name: string): Promise<string[]> {
  return (await loadedFiles(name)).flatMap((file) => /\/packages\/sdk\/dist\/(.+)/.exec(file)?.[1] ?? []);
}

/**
 * A loader hook sees what is imported, the cache of `require` shows the rest. The hook runs in a thread of its own, so
 * it writes to a file descriptor rather than to a variable.
 */
async function loadedFiles(name: string): Promise<string[]> {
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
  return stdout.replaceAll('\\', '/').split('\n');
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

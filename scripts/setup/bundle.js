import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Joins the files that the command loads into few: Node takes 60 ms and more to find and read hundreds of small ones.
 * The code stays as it is, with its names, so stack traces can be read. Commands load their own part when they run.
 *
 * The files are CommonJS. As ES modules they take 20 to 40 ms longer to start: Node 20 links them one by one, and an
 * `import` of `node:crypto`, `node:process` or `node:util` evaluates everything that the module could export.
 *
 * Packages of others stay outside, except those that CommonJS cannot load, and the one that starts a server, which a
 * client waits for. Ours are taken in, since the command and they must share one copy of each module.
 */
export async function bundleCommand(dist) {
  const { rolldown } = await import('rolldown');
  const bundle = await rolldown({
    input: { main: join(dist, 'main.js') },
    platform: 'node',
    tsconfig: false,
    // Needed to join files: the entry may export more than `main`.
    preserveEntrySignatures: 'allow-extension',
    external: (id) => !OURS.test(id) && !MODULES_ONLY.test(id) && !EARLY.test(id),
    plugins: [ownAddress, lazyBuiltIns],
    // A module that one command loads late may be loaded early by another.
    checks: { ineffectiveDynamicImport: false },
  });
  const folder = join(dist, 'bundle');
  const options = {
    dir: folder,
    format: 'cjs',
    entryFileNames: '[name].js',
    // Without a hash: a process that runs from here finds its files again after a build.
    chunkFileNames: '[name].js',
    // Comments do not help a stack trace, and Node reads them at every start.
    comments: false,
  };
  const joined = joinedFiles((await bundle.generate(options)).output);
  const { output } = await bundle.write({ ...options, codeSplitting: joined });
  await bundle.close();
  await writeFile(join(folder, 'package.json'), '{ "type": "commonjs" }\n');
  await writeLicenses(
    folder,
    output.flatMap(({ moduleIds = [] }) => moduleIds),
  );
}

/**
 * The starts that somebody waits for, by the modules that they load in turn. Files that the same of these starts load are
 * joined: Node takes 0.1 ms and more for each.
 */
const STARTS = {
  every: ['/main.js'],
  command: ['/process/start-process.js'],
  parsed: ['/program.js'],
  bridge: ['/target.js', '/serve/run-serve.js', '/gateway/dist/serve-one.js'],
  demo: ['/commands/demo.js'],
  status: ['/commands/gateway/status.js'],
  list: ['/commands/list.js'],
};

function joinedFiles(output) {
  const chunks = new Map(output.map((chunk) => [chunk.fileName, chunk]));
  const fileOf = (path) => {
    const isIt = (id) => id.replaceAll('\\', '/').endsWith(path);
    const chunk = output.find(({ moduleIds = [] }) => moduleIds.some(isIt));
    if (chunk === undefined)
      throw new Error(`The bundle has no module ${path}, which a start was known to load`);
    return chunk.fileName;
  };
  const modulesOf = (paths) => {
    const files = new Set(paths.map(fileOf));
    for (const file of files) {
      for (const each of chunks.get(file).imports) if (chunks.has(each)) files.add(each);
    }
    return new Set([...files].flatMap((file) => chunks.get(file).moduleIds));
  };
  const starts = Object.entries(STARTS).map(([name, files]) => [name, modulesOf(files)]);
  const nameOf = (id) => {
    const names = starts.flatMap(([name, modules]) => (modules.has(id) ? [name] : []));
    return names[0] === 'every' ? 'every' : names.join('-');
  };
  const names = new Set(starts.flatMap(([, modules]) => [...modules].map(nameOf)));
  return {
    // What a file imports is in a file that at least the same starts load.
    includeDependenciesRecursively: false,
    groups: [...names].map((name) => ({ name: `for-${name}`, test: (id) => nameOf(id) === name })),
  };
}

const OURS = /^(?:[./]|[A-Za-z]:|\0|@oxc-project\/|@isthmus\/)/;
/** Node before 20.19 cannot load these from CommonJS. A package that is loaded with `import()` need not be here. */
const MODULES_ONLY = /^(?:fast-string-width|fast-string-truncated-width|fast-wrap-ansi)$/;

/** cross-spawn and what it needs: twelve small files. */
const EARLY = /^(?:cross-spawn|path-key|which|isexe|shebang-command|shebang-regex)$/;

/** A file of the referee or the console that looks for its neighbours finds them where its package is, not beside the bundle. */
const ownAddress = {
  name: 'own-address',
  transform(code, id) {
    const [, name, path] = /[\\/](check|console)[\\/]dist[\\/](.*)$/.exec(id) ?? [];
    if (path === undefined || !code.includes('import.meta.url')) return undefined;
    const specifier = JSON.stringify(`@isthmus/${name}/internal/${path.replaceAll('\\', '/')}`);
    const address = `addressOfFile(requireFromBundle(import.meta.url).resolve(${specifier})).href`;
    return {
      code: `import { createRequire as requireFromBundle } from 'node:module';
import { pathToFileURL as addressOfFile } from 'node:url';
${code.replaceAll('import.meta.url', address)}`,
      map: null,
    };
  },
};

/** Modules of Node that its own start does not load are loaded by the first use of what they export. */
const lazyBuiltIns = {
  name: 'lazy-built-ins',
  renderChunk(code) {
    const names = [];
    const lazy = code.replace(/^let (node_\w+) = require\("(node:[\w/]+)"\);$/gm, (line, name, id) => {
      const isWhole = new RegExp(`\\b${name}\\b(?! =|\\.)`).test(code);
      if (LOADED_BY_NODE.has(id) || isWhole) return line;
      names.push(name);
      return `let loaded_${name};\nfunction load_${name}() {\n\treturn loaded_${name} ??= require("${id}");\n}`;
    });
    if (names.length === 0) return undefined;
    const uses = new RegExp(`\\b(${names.join('|')})\\.`, 'g');
    return { code: lazy.replace(uses, '(load_$1()).'), map: null };
  },
};
const LOADED_BY_NODE = new Set([
  'node:buffer',
  'node:events',
  'node:fs',
  'node:path',
  'node:url',
  'node:util',
]);

/** The licenses of the packages that were taken in. */
export async function writeLicenses(folder, moduleIds) {
  const packages = new Set(
    moduleIds.flatMap((id) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(id)?.[0] ?? []),
  );
  const texts = [];
  for (const path of [...packages].sort()) {
    const { name, version } = JSON.parse(await readFile(join(path, 'package.json'), 'utf8'));
    const file = (await readdir(path)).find((each) => /^licen[cs]e/i.test(each));
    if (file === undefined) throw new Error(`${path} has no license file, so it cannot be bundled`);
    texts.push(`${name} ${version}\n\n${(await readFile(join(path, file), 'utf8')).trim()}\n`);
  }
  await writeFile(join(folder, 'licenses.txt'), texts.join(`\n${'-'.repeat(80)}\n\n`));
}

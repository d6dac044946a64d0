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
    plugins: [ownAddress, loadLate, asciiOnly],
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
    plugins: [shortMarks],
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

/**
 * What these starts import and do not run before they have answered. Each is a file of its own, which is loaded by the first
 * use of what it exports: V8 takes 1.7 ms to look through 100 KB that are not used.
 */
const LATER = {
  'legacy-clients': /\/(?:era\/legacy\/(?:server-|handshake\.|project-)|bridge\/session-changes\.)/,
  'legacy-servers': /\/(?:era\/legacy\/|negotiation\/initialize\.)/,
  'tasks-of-servers': /\/server\/tasks\//,
  'tasks-of-clients': /\/(?:client\/tasks\/|bridge\/tasks\/)/,
  remote: /\/(?:transport\/http-client\/|oauth\/|host\/remote-server\.|personal\/)/,
  clients:
    /\/(?:client\/(?:client|options|call-options|result-checks|response-cache|connect|connection-source)\.|host\/spec-connector\.)/,
  others: new RegExp(
    [
      String.raw`\/(?:era\/modern\/listens|era\/answer-rounds|exchange\/share-changes|wire\/recover-id|transport\/socket)\.`,
      String.raw`\/(?:process\/describe-exit|bridge\/upstream-errors|host\/(?:host-tools|status)|describe-failure)\.`,
      String.raw`\/(?:telemetry\/observe-service|aggregate\/shared-tasks|gateway\/dist\/server-state)\.`,
      String.raw`\/access\/(?:create-authorize|guarded-listening)\.`,
      String.raw`\/limits\/(?!limit-service\.)`,
      String.raw`\/pipeline\/derive`,
    ].join('|'),
  ),
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
    if (names.length === 0 || names[0] === 'every') return names.join('');
    const later = Object.keys(LATER).find((name) => LATER[name].test(id.replaceAll('\\', '/')));
    return later === undefined ? `for-${names.join('-')}` : `later-${later}`;
  };
  const names = new Set(starts.flatMap(([, modules]) => [...modules].map(nameOf)));
  return {
    // What a file imports is in a file that at least the same starts load.
    includeDependenciesRecursively: false,
    groups: [...names].map((name) => ({ name, test: (id) => nameOf(id) === name })),
  };
}

const OURS = /^(?:[./]|[A-Za-z]:|\0|@oxc-project\/|@isthmus\/)/;
/** Node before 20.19 cannot load these from CommonJS. A package that is loaded with `import()` need not be here. */
const MODULES_ONLY = /^(?:fast-string-width|fast-string-truncated-width|fast-wrap-ansi)$/;

/** cross-spawn and what it needs: twelve small files. */
const EARLY = /^(?:cross-spawn|path-key|which|isexe|shebang-command|shebang-regex)$/;

/** The line before each module names it as `sdk/wire/codec.js`. */
const shortMarks = {
  name: 'short-marks',
  renderChunk: (code) => ({
    code: code.replace(/^\/\/ packages\/(\w+)\/(?:dist|\.dist-next)\//gm, '// $1/'),
    map: null,
  }),
};

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

/**
 * Modules of Node that its own start does not load are loaded by the first use of what they export, and so are our files
 * of `LATER`.
 */
const loadLate = {
  name: 'load-late',
  renderChunk(code) {
    const names = [];
    const lazy = code.replace(LATE, (line, name, id) => {
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
const LATE =
  /^(?:let|const) (node_\w+|require_later_\w+) = require\("(node:[\w/]+|\.\/later-[\w-]+\.js)"\);$/gm;
const LOADED_BY_NODE = new Set([
  'node:buffer',
  'node:events',
  'node:fs',
  'node:path',
  'node:url',
  'node:util',
]);

/** V8 reads a file with any other character as one of two bytes for each, which takes longer and twice the memory. */
const asciiOnly = {
  name: 'ascii-only',
  // Last of all: after `renderChunk` the code is printed again, without the escapes.
  generateBundle(_, output) {
    for (const chunk of Object.values(output)) {
      if (chunk.type !== 'chunk') continue;
      chunk.code = chunk.code.replace(
        /[\u0080-\uffff]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
      );
    }
  },
};

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

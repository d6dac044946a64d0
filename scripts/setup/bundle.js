import { join } from 'node:path';

/**
 * Joins the files that the command loads into few: Node takes 60 ms and more to find and read hundreds of small ones.
 * The code stays as it is, with its names, so stack traces can be read. Commands load their own part when they run.
 * Packages of others are not taken in; ours are, since the command and they must share one copy of each module.
 */
export async function bundleCommand(dist) {
  const { rolldown } = await import('rolldown');
  const bundle = await rolldown({
    input: { main: join(dist, 'main.js') },
    platform: 'node',
    tsconfig: false,
    external: (id) => !/^(?:[./]|[A-Za-z]:|\0|@oxc-project\/|@isthmus\/)/.test(id),
    plugins: [ownAddress],
  });
  await bundle.write({
    dir: join(dist, 'bundle'),
    format: 'esm',
    entryFileNames: '[name].js',
    // Without a hash: a process that runs from here finds its files again after a build.
    chunkFileNames: '[name].js',
    // Comments do not help a stack trace, and Node reads them at every start.
    comments: false,
  });
  await bundle.close();
}

/** A file of the referee that looks for its neighbours finds them where its package is, not beside the bundle. */
const ownAddress = {
  name: 'own-address',
  transform(code, id) {
    const [, path] = /[\\/]check[\\/]dist[\\/](.*)$/.exec(id) ?? [];
    if (path === undefined || !code.includes('import.meta.url')) return undefined;
    const specifier = JSON.stringify(`@isthmus/check/internal/${path.replaceAll('\\', '/')}`);
    return { code: code.replaceAll('import.meta.url', `import.meta.resolve(${specifier})`), map: null };
  },
};

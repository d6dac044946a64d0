/** The API reference: what the packages export, with the sentences of their JSDoc, as pages of Markdown. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Application } from 'typedoc';

const root = fileURLToPath(new URL('../', import.meta.url));

/**
 * The public entry points, with what each is for. A name that several of them export has its text at the first one, so
 * the entry point that has everything comes last.
 */
export const ENTRIES = {
  '@isthmus/sdk/wire': [
    'packages/sdk/src/wire/index.ts',
    'The types of MCP, and JSON-RPC messages as lines.',
  ],
  '@isthmus/sdk/server': ['packages/sdk/src/server/index.ts', 'Define a server once, for both eras.'],
  '@isthmus/sdk/client': ['packages/sdk/src/client/index.ts', 'Connect to a server of either era.'],
  '@isthmus/sdk/stdio': [
    'packages/sdk/src/transport/stdio.ts',
    'Serve stdin and stdout, or start a command.',
  ],
  '@isthmus/sdk/socket': ['packages/sdk/src/transport/socket.ts', 'Unix sockets and TCP.'],
  '@isthmus/sdk/http': ['packages/sdk/src/transport/http.ts', 'Serve over HTTP, or connect to a URL.'],
  '@isthmus/sdk/host': ['packages/sdk/src/host/index.ts', 'Keep server processes for an application.'],
  '@isthmus/sdk/bridge': ['packages/sdk/src/bridge/index.ts', 'Serve any server to clients of both eras.'],
  '@isthmus/sdk': ['packages/sdk/src/index.ts', 'All of the above but the wire, in one import.'],
  '@isthmus/gateway': ['packages/gateway/src/index.ts', 'Many servers behind one address.'],
  '@isthmus/check': ['packages/check/src/index.ts', 'Check whether a server follows the specification.'],
};

const OPTIONS = {
  tsconfig: join(root, 'tsconfig.json'),
  basePath: root,
  // `npm run check` checks the types, with the compiler that builds the packages.
  skipErrorChecking: true,
  excludeInternal: true,
  excludePrivate: true,
  excludeExternals: true,
  disableSources: true,
  disableGit: true,
  readme: 'none',
  groupOrder: ['Functions', 'Classes', 'Interfaces', 'Type Aliases', 'Variables', '*'],
  sort: ['kind', 'alphabetical'],
  validation: { notExported: false, invalidLink: true, invalidPath: false },
  logLevel: 'Warn',
  // The Markdown.
  outputFileStrategy: 'modules',
  modulesFileName: 'index',
  entryFileName: 'index',
  hidePageHeader: true,
  hideBreadcrumbs: true,
  hideGroupHeadings: false,
  useHTMLAnchors: true,
  useCodeBlocks: true,
  expandObjects: false,
  parametersFormat: 'table',
  interfacePropertiesFormat: 'table',
  classPropertiesFormat: 'table',
  typeDeclarationFormat: 'table',
  tableColumnSettings: { hideSources: true, hideDefaults: true, hideInherited: true, hideOverrides: true },
};

/**
 * A page for each entry point: its path below the folder of the reference, and its Markdown.
 * @returns {Promise<{ path: string, text: string }[]>}
 */
export async function renderReference() {
  const { app, project } = await readReference();
  const folder = await mkdtemp(join(tmpdir(), 'isthmus-reference-'));
  try {
    app.options.setValue('outputs', [{ name: 'markdown', path: folder }]);
    await app.generateOutputs(project);
    if (app.logger.hasErrors()) throw new Error('typedoc could not write the reference');
    const pages = Object.keys(ENTRIES).map(async (name) => ({
      path: `${name}.md`,
      text: tidy(await readFile(join(folder, `${name}.md`), 'utf8'), ENTRIES[name][1]),
    }));
    return [overview(), ...(await Promise.all(pages))];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function overview() {
  const rows = Object.entries(ENTRIES).map(([name, [, what]]) => `| [\`${name}\`](${name}.md) | ${what} |`);
  const head =
    '# API reference\n\nFind what each package exports: every function, class and type, with its options.\n';
  return {
    path: 'index.md',
    text: `${head}\n| import | what is in it |\n| --- | --- |\n${rows.join('\n')}\n`,
  };
}

/** A name that is described on another page becomes one line of a list. Ids of properties repeat, and go. */
function tidy(text, what) {
  return text
    .replace(/^(# .+\n)/, `$1\n${what}\n`)
    .replaceAll(/<a id="property-[^"]*"><\/a> /g, '')
    .replaceAll(/^(?:<a id=.+\n\n)?### .+\n\nRe-exports (\[.+\]\(.+\))\n(?:\n\*\*\*\n\n)?/gm, '- $1\n');
}

/** Reads the sources. The project has a module for each public entry point. */
export async function readReference() {
  const app = await Application.bootstrapWithPlugins({
    ...OPTIONS,
    plugin: ['typedoc-plugin-markdown'],
    entryPoints: Object.values(ENTRIES).map(([path]) => join(root, path)),
  });
  const project = await app.convert();
  if (!project) throw new Error('typedoc could not read the sources');
  const names = new Map(Object.entries(ENTRIES).map(([name, [path]]) => [join(root, path), name]));
  for (const module of project.children ?? []) {
    // What is said at the top of the file is for readers of the code.
    delete module.comment;
    module.name = names.get(pathOf(project, module)) ?? module.name;
  }
  return { app, project };
}

function pathOf(project, module) {
  return project.getSymbolIdFromReflection(module)?.fileName ?? '';
}

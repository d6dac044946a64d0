import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ISTHMUS } from '../support/child.js';
import type { Era, Json, User } from './clients/witness.js';
import type { Step } from './script.js';
import { demoScript } from './scripts/demo.js';
import { everythingScript, poorScript } from './scripts/everything.js';
import { filesystemScript } from './scripts/filesystem.js';
import { modernScript } from './scripts/modern.js';

export interface ServerKind {
  readonly name: string;
  readonly title: string;
  /** Those of a family are one and the same when nothing stands before them. */
  readonly family: string;
  /** What the bridge speaks to it. */
  readonly far: Era;
  /** What it speaks when nothing stands before it. */
  readonly eras: readonly Era[];
  /** Each time another one, in case it keeps something. */
  prepare(): Prepared;
}

export interface Prepared {
  readonly args: readonly string[];
  /** What stands behind the bridge, where that is not the same. */
  readonly behind: readonly string[];
  readonly script: readonly Step[];
  readonly user: User;
  /** It asks for roots as soon as it is started. */
  readonly asksEarly: boolean;
  /** What differs from run to run, and what to read instead. */
  readonly vary: readonly (readonly [string, string])[];
  clean(): void;
}

const EVERYTHING = local('../../node_modules/@modelcontextprotocol/server-everything/dist/index.js');
const CAPABILITIES = { elicitation: { form: {}, url: {} }, sampling: {}, roots: { listChanged: true } };

export const SERVERS: readonly ServerKind[] = [
  plain('everything', 'server-everything', ['legacy'], everythingScript, [EVERYTHING], { asksEarly: true }),
  plain('everything-poor', 'server-everything, poor client', ['legacy'], poorScript, [EVERYTHING], {
    ...{ asksEarly: true, capabilities: {} },
  }),
  {
    name: 'filesystem',
    title: 'server-filesystem',
    family: 'filesystem',
    far: 'legacy',
    eras: ['legacy'],
    prepare() {
      const folder = realpathSync(mkdtempSync(join(tmpdir(), 'isthmus-files-')));
      const program = local('../../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js');
      return {
        args: [program, folder],
        behind: [program, folder],
        script: filesystemScript(folder),
        user: { capabilities: CAPABILITIES, roots: [{ uri: pathToFileURL(folder).href }] },
        asksEarly: true,
        vary: [[folder, '(folder)']],
        clean: () => rmSync(folder, { recursive: true, force: true }),
      };
    },
  },
  plain('official-modern', 'official v2, modern only', ['modern'], modernScript, [
    local('fixtures/official-modern.mjs'),
  ]),
  plain('demo', 'isthmus demo', ['legacy', 'modern'], demoScript, [ISTHMUS, 'demo']),
  plain('demo-legacy', 'isthmus demo, legacy behind', ['legacy', 'modern'], demoScript, [ISTHMUS, 'demo'], {
    ...{ family: 'demo', far: 'legacy', moreBehind: ['--era', 'legacy'] },
  }),
];

interface More {
  readonly family?: string;
  readonly far?: Era;
  readonly moreBehind?: readonly string[];
  readonly asksEarly?: boolean;
  readonly capabilities?: Json;
}

function plain(
  name: string,
  title: string,
  eras: readonly Era[],
  script: readonly Step[],
  args: readonly string[],
  more: More = {},
): ServerKind {
  const { family = name, far = eras.at(-1)!, moreBehind = [] } = more;
  const { asksEarly = false, capabilities = CAPABILITIES } = more;
  const user = { capabilities, roots: [{ uri: 'file:///home/ada', name: 'home' }] };
  const prepared = { args, behind: [...args, ...moreBehind], script, user, asksEarly, vary: [] };
  return { name, title, family, far, eras, prepare: () => ({ ...prepared, clean: () => {} }) };
}

function local(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}

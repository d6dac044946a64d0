import { LOGGING_LEVELS } from '@isthmus/sdk/internal/era/reports.js';
import { MODERN_REVISIONS } from '@isthmus/sdk/internal/era/revisions.js';
import type { CheckStore } from '../checks/check-store.js';
import type { CheckRequest, ConnectionSettings, LogLevelName } from '../contract.js';
import { invalid, notFound } from '../http/console-error.js';
import {
  boolean,
  integer,
  listOf,
  objectOf,
  oneOf,
  optional,
  readFields,
  text,
} from '../http/read-fields.js';
import type { Handlers } from '../http/router.js';
import type { ConsoleRecords } from './console-records.js';
import type { InspectOptions } from './inspect-options.js';
import type { InspectedServer } from './inspected-server.js';
import { snippetHandlers } from './snippet-handlers.js';

/** What only the console of one server has: its connection, its log level, snippets and checks. */
export function serverHandlers(
  options: InspectOptions,
  server: InspectedServer,
  records: ConsoleRecords,
  checks: CheckStore,
): Handlers {
  const runner = () => {
    if (!options.check) throw notFound('This console cannot check servers');
    return options.check(server.settings.name);
  };
  return {
    ...snippetHandlers(records, {
      eraOf: () => server.verdict ?? { era: 'modern', revision: MODERN_REVISIONS[0] },
      write: (facts) => options.snippet(facts, server.settings.name),
    }),
    'GET connection': () => server.settings,
    async 'PUT connection'({ body }) {
      const settings = readFields<ConnectionSettings>(body, CONNECTION_FIELDS);
      checkSettings(settings, options);
      const added = settings.roots.filter(
        ({ uri }) => !options.settings.roots.some((root) => root.uri === uri),
      );
      for (const { uri } of added) options.say(`the page lets the server see ${uri} as a root`);
      return server.connect(settings);
    },
    'DELETE connection': () => server.hangUp(),
    async 'PUT log-level'({ body }) {
      const { level } = readFields<{ level: LogLevelName }>(body, { level: oneOf(...LOGGING_LEVELS) });
      const { caller } = await server.session();
      await caller.setLogLevel(level);
      return { how: caller.verdict.era === 'legacy' ? 'session' : 'each request' };
    },
    async 'GET checks'() {
      const { suites, startsCopies } = await runner();
      return { suites, startsCopies, runs: checks.all() };
    },
    async 'POST checks'({ body }) {
      const request = readFields<CheckRequest>(body ?? {}, CHECK_FIELDS);
      return { check: checks.begin(await runner(), request) };
    },
    'GET checks/:id': ({ segments: [id] }) => checks.get(integer(1, MAX)(id, 'id')),
    'DELETE checks/:id': ({ segments: [id] }) => checks.stop(integer(1, MAX)(id, 'id')),
  };
}

function checkSettings({ mode, name, roots }: ConnectionSettings, { target }: InspectOptions): void {
  const isMode =
    mode === 'auto' || mode === 'modern' || mode === 'legacy' || /^\d{4}-\d{2}-\d{2}$/.test(mode);
  if (!isMode) throw invalid('"mode" must be auto, modern, legacy or a revision such as 2025-11-25');
  if (name !== undefined && !target.names?.includes(name))
    throw invalid('"name" must be one of the names of the configuration file');
  if (target.names && name === undefined) throw invalid('Choose one of the names of the configuration file');
  const foreign = roots.find(({ uri }) => !uri.startsWith('file://'));
  if (foreign) throw invalid('A root must be a file:// URI');
}

const MAX = Number.MAX_SAFE_INTEGER;
const words = optional(listOf(text(200), 100));
const CONNECTION_FIELDS = {
  mode: text(20),
  asks: objectOf({ forms: boolean, urls: boolean, sampling: boolean, roots: boolean }),
  roots: listOf(
    objectOf<{ uri: string; name?: string | undefined }>({ uri: text(4000), name: optional(text(200)) }),
    100,
  ),
  name: optional(text(200)),
};
const CHECK_FIELDS = {
  suites: words,
  only: words,
  eras: optional(listOf(oneOf('legacy', 'modern'), 2)),
  callTools: optional(boolean),
  allow: words,
  seed: optional(integer(0, 2 ** 32)),
};

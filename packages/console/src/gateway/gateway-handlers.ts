import type { RecordingRequest, SeriesQuery, SettingsView } from '../contract.js';
import { ConsoleError, notFound } from '../http/console-error.js';
import { integer, listOf, optional, readFields, text } from '../http/read-fields.js';
import type { ApiRequest, Handlers } from '../http/router.js';
import type { CallSeries } from './call-series.js';
import type { CallerStore } from './caller-store.js';
import type { GatewayView, ServerMoment } from './gateway-view.js';
import type { Recordings } from './recordings.js';
import type { StatusStore } from './status-store.js';

export interface GatewayParts {
  readonly view: GatewayView;
  readonly status: StatusStore;
  readonly series: CallSeries;
  readonly callers: CallerStore;
  readonly recordings: Recordings;
  history(server: string): readonly ServerMoment[];
  refused(server: string): number;
  readonly console: () => SettingsView['console'];
}

/** What only the console of a gateway has. Every action is written down with who did it. */
export function gatewayHandlers(parts: GatewayParts): Handlers {
  const { view, status, series, callers, recordings } = parts;
  const act = async ({ segments: [name], user }: ApiRequest, verb: 'restart' | 'stop' | 'start') => {
    await known(name!);
    view.note(`${user.who}: ${verb} ${name}`);
    await view[verb](name!);
    status.soon();
  };
  const known = async (name: string) => {
    const found = (await status.read()).servers.find((server) => server.name === name);
    if (!found) throw notFound(`The gateway has no server ${JSON.stringify(name.slice(0, 100))}`);
    return found;
  };
  return {
    'GET status': () => status.read(),
    async 'GET servers/:name'({ segments: [name] }) {
      const found = await known(name!);
      const detail = await view.detail(name!);
      return { ...found, ...detail, history: parts.history(name!), refused: parts.refused(name!) };
    },
    'POST servers/:name/restart': (request) => act(request, 'restart'),
    'POST servers/:name/stop': (request) => act(request, 'stop'),
    'POST servers/:name/start': (request) => act(request, 'start'),
    async 'POST reload'({ user }) {
      view.note(`${user.who}: reload`);
      const report = await view.reload();
      status.soon();
      return report;
    },
    'GET series'({ query }) {
      const { server, from } = readFields<SeriesQuery>(query, SERIES_QUERY, 'The query');
      const now = Date.now();
      return series.view(server, from ?? now - 3_600_000, now);
    },
    'GET callers': () => callers.all((server) => view.callerLimit(server)),
    'GET sessions': () => callers.sessions(),
    'DELETE sessions/:id'({ segments: [id], user }) {
      const { server, client = 'a client' } = callers.endSession(
        integer(1, Number.MAX_SAFE_INTEGER)(id, 'id'),
      );
      view.note(`${user.who}: end session ${id} of ${client} with ${server}`);
    },
    'GET settings': () => ({ ...view.settings(), console: parts.console() }),
    'GET recordings': () => recordings.all(),
    async 'POST recordings'({ body, user }) {
      const request = readFields<RecordingRequest>(body ?? {}, RECORDING_FIELDS);
      for (const name of request.servers ?? []) await known(name);
      return recordings.begin(user.who, request);
    },
    'DELETE recordings/:id': ({ segments: [id], user }) =>
      recordings.end(integer(1, Number.MAX_SAFE_INTEGER)(id, 'id'), user.who),
  };
}

/** Payloads of clients are for those who may record. What a person sent is that person's own. */
export function refusePayloads(who: string): never {
  throw new ConsoleError(
    403,
    'NOT_ALLOWED',
    `${who} may not see messages of clients: it needs the level record`,
  );
}

const SERIES_QUERY = { server: optional(text(200)), from: optional(integer(0, Number.MAX_SAFE_INTEGER)) };
const RECORDING_FIELDS = {
  servers: optional(listOf(text(200), 1000)),
  caller: optional(text(500)),
  minutes: optional(integer(1, 15)),
};

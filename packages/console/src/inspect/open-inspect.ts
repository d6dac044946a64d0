import { systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { VERSION } from '@isthmus/sdk/internal/version.js';
import { AccessControl } from '../access/access.js';
import { CheckStore } from '../checks/check-store.js';
import type { Feature, Hello } from '../contract.js';
import { Feeds } from '../feed/feeds.js';
import { eventOf } from '../feed/topic.js';
import { accessHandlers } from '../http/access-handlers.js';
import { openConsoleServer } from '../http/console-server.js';
import { callHandlers } from './call-handlers.js';
import { ConsoleRecords } from './console-records.js';
import { frameHandlers } from './frame-handlers.js';
import type { InspectOptions } from './inspect-options.js';
import { InspectedServer } from './inspected-server.js';
import { recordsTopic } from './record-topics.js';
import { serverHandlers } from './server-handlers.js';

/** The console of one server. */
export interface InspectConsole {
  readonly origin: string;
  readonly records: ConsoleRecords;
  /** The address of the page, with a fresh link. */
  link(): string;
  /** Connects to the server. Never rejects: the page shows what went wrong. */
  connect(): Promise<void>;
  close(): Promise<void>;
}

export async function openInspect(options: InspectOptions): Promise<InspectConsole> {
  const records = new ConsoleRecords({ isRecording: true });
  const access = new AccessControl({
    onSecondUse: () => options.say('A link to the console was used twice. If it was not you, press Ctrl-C.'),
  });
  const checks = new CheckStore();
  const server = new InspectedServer(options, records);
  const feeds = new Feeds({
    ...{ access, clock: systemClock, ring: records.ring },
    topic: (name, afterLog) =>
      name === 'checks'
        ? {
            now: () => checks.all().map((run) => eventOf('check', run)),
            watch: (tell) => checks.changes.watch((run) => tell(eventOf('check', run))),
          }
        : recordsTopic(records, name, afterLog),
  });
  const features: readonly Feature[] = [
    'lens',
    'exact-bytes',
    ...(options.check ? (['check'] as const) : []),
    ...(options.target.names ? (['choose'] as const) : []),
  ];
  const http = await openConsoleServer({
    port: options.port,
    access,
    guardsPayloads: false,
    handlers: {
      ...accessHandlers(access),
      ...frameHandlers(records, options),
      ...callHandlers({
        records,
        callTarget: (name) => server.callTarget(name),
        sendBytes: async (bytes) => (await server.session()).sendBytes(bytes),
      }),
      ...serverHandlers(options, server, records, checks),
      'POST feed': (request) => feeds.begin(request) as never,
      'GET hello': ({ user }): Hello => ({
        contract: 1,
        face: 'inspect',
        version: VERSION,
        who: user.who,
        levels: user.levels,
        now: Date.now(),
        began: records.began,
        ring: { frames: records.ring.maxFrames, bytes: records.ring.maxBytes },
        features,
        target: options.target,
        readOnly: false,
      }),
    },
  });
  return {
    origin: http.origin,
    records,
    link: () => http.address(access.mintLink({ who: 'you', levels: ['look', 'act', 'record'] })),
    connect: () => server.begin(),
    async close() {
      feeds.close('isthmus inspect has ended');
      checks.close();
      records.questions.close();
      await server.close();
      await http.close();
    },
  };
}

import { basename } from 'node:path';
import { systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { VERSION } from '@isthmus/sdk/internal/version.js';
import { AccessControl } from '../access/access.js';
import type { CallRow, Hello, TargetView } from '../contract.js';
import { Feeds } from '../feed/feeds.js';
import type { JudgeMessage } from '../frames/frame-schema.js';
import { accessHandlers } from '../http/access-handlers.js';
import { ConsoleError } from '../http/console-error.js';
import { openConsoleServer } from '../http/console-server.js';
import { listInFrames } from '../trace/list-in-frames.js';
import { readTrace } from '../trace/read-trace.js';
import type { TraceRedactor } from '../trace/write-trace.js';
import { callHandlers } from './call-handlers.js';
import { ConsoleRecords } from './console-records.js';
import { frameHandlers } from './frame-handlers.js';
import { recordsTopic } from './record-topics.js';

export interface TraceConsoleOptions {
  readonly file: string;
  readonly redactor: TraceRedactor;
  readonly judge: JudgeMessage;
  readonly port?: number | undefined;
  /** For the terminal. */
  say(line: string): void;
}

/** The console of a trace file: everything can be looked at, and nothing can be sent. */
export interface TraceConsole {
  readonly origin: string;
  /** The server that the file is about. */
  readonly label: string;
  link(): string;
  close(): Promise<void>;
}

/** Rejects with a `TraceError` when the file cannot be used. */
export async function openTrace(options: TraceConsoleOptions): Promise<TraceConsole> {
  const { file, redactor, judge, say } = options;
  const records = new ConsoleRecords({ isRecording: false, maxBytes: 256 * 1024 * 1024 });
  const { head, calls, skipped } = await readTrace(file, records.ring, records.connections);
  if (skipped > 0)
    say(
      skipped === 1
        ? `1 line of ${file} is not valid, and is left out`
        : `${skipped} lines of ${file} are not valid, and are left out`,
    );
  records.began = head.began;
  for (const row of calls) records.calls.begin(restoredCall(row));
  const target: TargetView = {
    label: head.target.label,
    kind: 'trace',
    file: { name: basename(file), savedAt: Date.parse(head.savedAt) || 0, redacted: head.redacted },
  };
  const access = new AccessControl({
    onSecondUse: () => say('A link to the console was used twice. If it was not you, press Ctrl-C.'),
  });
  const feeds = new Feeds({
    ...{ access, clock: systemClock, ring: records.ring },
    topic: (name, afterLog) => recordsTopic(records, name, afterLog),
  });
  const http = await openConsoleServer({
    ...{ port: options.port, access, guardsPayloads: false },
    handlers: {
      ...accessHandlers(access),
      ...frameHandlers(records, { target, redactor, judge }),
      ...callHandlers({ records, callTarget: refuse }),
      'GET lists/:what': ({ segments: [what] }) => listInFrames(records.ring, what!),
      'POST feed': (request) => feeds.begin(request) as never,
      'GET hello': ({ user: { who, levels } }): Hello => ({
        ...{ contract: 1, face: 'inspect', version: VERSION, who, levels, now: Date.now() },
        ...{ began: records.began, features: ['lens'], target, readOnly: true },
        ring: { frames: records.ring.maxFrames, bytes: records.ring.maxBytes },
      }),
    },
  });
  return {
    origin: http.origin,
    label: head.target.label,
    link: () => http.address(access.mintLink({ who: 'you', levels: ['look', 'act', 'record'] })),
    async close() {
      feeds.close('isthmus inspect has ended');
      await http.close();
    },
  };
}

function refuse(): never {
  throw new ConsoleError(409, 'READ_ONLY', 'This is a file of frames: there is no server to send this to', {
    hint: 'isthmus inspect -- COMMAND talks to a server',
  });
}

/** A call that was open when the file was written has no end. It is shown as over. */
function restoredCall(row: CallRow) {
  return {
    row: { ...row, state: 'done' as const, own: row.own === true },
    ...{ progressed: [], logs: [], questions: [] },
  };
}

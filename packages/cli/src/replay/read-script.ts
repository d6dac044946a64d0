import type { ConnectionView } from '@isthmus/console/internal/contract.js';
import { type KeptFrame, KINDS } from '@isthmus/console/internal/frames/ring.js';
import { ConsoleRecords } from '@isthmus/console/internal/inspect/console-records.js';
import { readTrace, TraceError } from '@isthmus/console/internal/trace/read-trace.js';
import { fileReason } from '@isthmus/sdk/internal/errors.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { usageError } from '../cli-error.js';
import { oneLine } from '../terminal/text.js';

/** One recorded frame of a conversation, as the replay needs it. */
export interface ScriptFrame {
  /** Its number in the file. */
  readonly seq: number;
  readonly direction: 'to-server' | 'to-client';
  readonly kind: 'request' | 'notification' | 'result' | 'error' | 'noise';
  readonly method: string;
  /** The tool, prompt or address that it is about. */
  readonly about: string;
  readonly text: string;
  /** What the text says. Undefined: it is not a message. */
  readonly message: JsonObject | undefined;
  /** The frame that it answers. 0: none. */
  readonly answers: number;
}

/** What went over one connection to the server. Each conversation gets a connection of its own again. */
export interface RecordedConversation {
  readonly connection: ConnectionView;
  readonly frames: readonly ScriptFrame[];
}

export interface ReplayScript {
  readonly label: string;
  readonly conversations: readonly RecordedConversation[];
  /** Frames to the server that had a secret, which is not in the file. */
  readonly redacted: number;
  /** Lines of the file that are not valid. */
  readonly skipped: number;
}

/** Reads what a client said to a server, and what it answered. `server`: the one of a gateway's file. */
export async function readScript(file: string, server: string | undefined): Promise<ReplayScript> {
  const { ring, connections } = new ConsoleRecords({ isRecording: false, maxBytes: MAX_BYTES });
  const { head, skipped } = await readTrace(file, ring, connections).catch((error: unknown) => {
    if (error instanceof TraceError) throw usageError(oneLine(error.message));
    throw usageError(`Cannot read ${oneLine(file)}: ${oneLine(fileReason(error))}`);
  });
  const upstreams = chooseServer(
    connections.all().filter(({ side, lens }) => side === 'upstream' && !lens),
    server,
  );
  const frames = new Map<number, ScriptFrame[]>(upstreams.map(({ id }) => [id, []]));
  let redacted = 0;
  for (let seq = Math.max(ring.first, 1); seq <= ring.last; seq += 1) {
    const frame = ring.get(seq);
    const script = frame && frames.get(frame.connection);
    if (!script || !PLAYED.has(KINDS[frame.kind]!)) continue;
    const { flags, direction } = frame;
    if (direction === 0 && (flags & REDACTED) !== 0) redacted += 1;
    script.push(
      toScriptFrame(frame, ring.names.textOf(frame.method), {
        about: ring.names.textOf(frame.about),
        text: ring.dataOf(frame).toString(),
      }),
    );
  }
  const conversations = upstreams
    .map((connection) => ({ connection, frames: frames.get(connection.id)! }))
    .filter((each) => each.frames.some(({ direction }) => direction === 'to-server'));
  if (conversations.length === 0)
    throw usageError(
      `${oneLine(file)} has no frame from a client to a server`,
      `isthmus inspect ${oneLine(file)} shows what it has`,
    );
  return { label: head.target.label, conversations, redacted, skipped };
}

const MAX_BYTES = 256 * 1024 * 1024;
const REDACTED = 4;
const PLAYED: ReadonlySet<string> = new Set(['request', 'notification', 'result', 'error', 'noise']);

function chooseServer(all: readonly ConnectionView[], server: string | undefined): ConnectionView[] {
  const names = [...new Set(all.map((each) => each.server ?? ''))].filter((name) => name !== '');
  if (server === undefined && names.length > 1)
    throw usageError(
      'The file has the frames of several servers',
      `--server NAME chooses one: ${names.map(oneLine).join(', ')}`,
    );
  if (server !== undefined && !names.includes(server))
    throw usageError(
      `The file has no frames of a server "${oneLine(server)}"`,
      names.length === 0 ? 'Leave --server out' : `It has ${names.map(oneLine).join(', ')}`,
    );
  return all.filter((each) => server === undefined || each.server === server);
}

function toScriptFrame(
  frame: KeptFrame,
  method: string,
  { about, text }: { readonly about: string; readonly text: string },
): ScriptFrame {
  const { seq, answers } = frame;
  const direction = frame.direction === 0 ? 'to-server' : 'to-client';
  const kind = KINDS[frame.kind] as ScriptFrame['kind'];
  return { seq, direction, kind, method, about, text, message: messageIn(text), answers };
}

function messageIn(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

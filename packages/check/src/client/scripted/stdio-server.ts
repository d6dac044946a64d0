import type { Readable, Writable } from 'node:stream';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Script } from '../model.js';
import type { Recorder } from './record.js';
import { errorOf, partsOf, resultOf, type ScriptTurn } from './script.js';

interface StdioScriptedServer {
  readonly script: Script;
  readonly input: Readable;
  readonly output: Writable;
  readonly record: Recorder;
  /** The id of the process; negative for a server in this process. */
  readonly life: number;
  /** How many other servers of the run are running. */
  readonly beside: number;
  readonly exit: () => void;
  readonly log?: (text: string) => Promise<void>;
}

/** Runs a script on a pair of pipes. */
export function playOnStdio(server: StdioScriptedServer): void {
  const { script, input, output, record, life, beside, exit } = server;
  let rest: Buffer = Buffer.alloc(0);
  const write = (data: string | Uint8Array) => {
    if (!output.writable) return;
    record({ kind: 'out', life, text: typeof data === 'string' ? data : Buffer.from(data).toString() });
    output.write(data);
  };
  // The client may have exited. The end of the input shows that.
  output.on('error', () => {});
  record({ kind: 'started', life, beside });
  script.begin?.(write);
  const hear = (line: Buffer) => {
    const text = line.toString();
    const broken = !Buffer.from(text).equals(line);
    record({ kind: 'in', life, text, ...(broken && { broken: true as const }) });
    for (const message of messagesIn(text)) script.receive(turnOf(message, write, server));
  };
  input.on('data', (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (let at = rest.indexOf(10); at >= 0; at = rest.indexOf(10)) {
      const line = rest.subarray(0, at);
      rest = rest.subarray(at + 1);
      hear(line);
    }
  });
  input.on('end', () => {
    if (rest.length > 0) hear(rest);
    record({ kind: 'eof', life });
    const { atEnd = { afterMs: 0 } } = script;
    if (atEnd !== 'stays') setTimeout(exit, atEnd.afterMs);
  });
}

/** Input that is not a message is only recorded; a check reports it. */
function messagesIn(text: string): JsonObject[] {
  try {
    const value: unknown = JSON.parse(text);
    return (Array.isArray(value) ? value : [value]).filter(isJsonObject);
  } catch {
    return [];
  }
}

function turnOf(
  message: JsonObject,
  write: (data: string | Uint8Array) => void,
  { exit, log = () => Promise.resolve() }: StdioScriptedServer,
): ScriptTurn {
  const parts = partsOf(message);
  const say = (each: JsonObject) => write(`${JSON.stringify(each)}\n`);
  return {
    ...parts,
    over: 'stdio',
    path: '',
    headers: {},
    reply: (result) => say(resultOf(parts.id, result)),
    fail: (code, text, data) => say(errorOf(parts.id, code, text, data)),
    accept() {},
    say,
    raw: write,
    log,
    end() {},
    cut: exit,
    status: (status) => say(errorOf(parts.id, -32603, `there is no HTTP status ${status} over stdio`)),
  };
}

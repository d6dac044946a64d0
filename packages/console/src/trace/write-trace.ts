import { isUtf8 } from 'node:buffer';
import { VERSION } from '@isthmus/sdk/internal/version.js';
import type { CallRow, ConnectionView, TargetView } from '../contract.js';
import { type FrameRing, GIST_KINDS, type KeptFrame, KINDS, tenth } from '../frames/ring.js';
import type { TraceFrame, TraceHead } from './trace-line.js';

/** Removes secrets from text, and from one line of JSON so that it stays JSON. */
export interface TraceRedactor {
  text(text: string): string;
  json(line: string): string;
}

export function headLine(
  began: number,
  target: Pick<TargetView, 'label' | 'kind'>,
  redacted: boolean,
): string {
  const head: TraceHead = {
    trace: 1,
    isthmus: VERSION,
    savedAt: new Date().toISOString(),
    began,
    target: { label: target.label, kind: target.kind },
    redacted,
  };
  return `${JSON.stringify(head)}\n`;
}

export function connectionLine(connection: ConnectionView, redactor: TraceRedactor | undefined): string {
  const line = JSON.stringify({ connection });
  return `${redactor ? redactor.json(line) : line}\n`;
}

export function callLine(call: CallRow, redactor: TraceRedactor | undefined): string {
  const line = JSON.stringify({ call });
  return `${redactor ? redactor.json(line) : line}\n`;
}

export function frameLine(ring: FrameRing, frame: KeptFrame, redactor: TraceRedactor | undefined): string {
  const { http, process, problem } = frame.more ?? {};
  const method = ring.names.textOf(frame.method);
  const kind = KINDS[frame.kind]!;
  // The text of the frame has it already.
  const about = GIST_KINDS.has(kind) ? '' : ring.names.textOf(frame.about);
  const clean = (text: string) => (redactor ? redactor.text(text) : text);
  const line: TraceFrame = {
    seq: frame.seq,
    at: tenth(frame.at),
    connection: frame.connection,
    direction: frame.direction === 0 ? 'to-server' : 'to-client',
    kind,
    ...(method !== '' && { method }),
    ...(about !== '' && { about: clean(about) }),
    ...(frame.id !== undefined && { id: frame.id }),
    ...(frame.call !== 0 && { call: frame.call }),
    ...(frame.took >= 0 && { took: tenth(frame.took) }),
    ...(frame.answers !== 0 && { answers: frame.answers }),
    ...((frame.flags & 1) !== 0 && { failed: true }),
    ...((frame.flags & 8) !== 0 && { byHand: true }),
    bytes: frame.bytes,
    ...bodyOf(ring, frame, redactor),
    ...(http && {
      http: { ...http, headers: http.headers.map(([name, value]) => [name, clean(value)] as const) },
    }),
    ...(process && { process }),
    ...(problem !== undefined && { problem: clean(problem) }),
  };
  return `${JSON.stringify(line)}\n`;
}

function bodyOf(
  ring: FrameRing,
  frame: KeptFrame,
  redactor: TraceRedactor | undefined,
): Pick<TraceFrame, 'text' | 'base64' | 'redacted'> {
  const data = ring.dataOf(frame);
  const wasRedacted = (frame.flags & 4) !== 0;
  if (!redactor) {
    const mark = wasRedacted ? { redacted: true as const } : {};
    return isUtf8(data) ? { text: data.toString(), ...mark } : { base64: data.toString('base64'), ...mark };
  }
  const text = data.toString();
  const clean = redactBody(text, redactor);
  return { text: clean, ...((wasRedacted || clean !== text) && { redacted: true }) };
}

/** JSON stays JSON, so that a message can still be read. */
export function redactBody(text: string, redactor: TraceRedactor): string {
  return /^\s*[{[]/.test(text) ? redactor.json(text) : redactor.text(text);
}

import type { ConsoleUser } from '../access/access.js';
import type { FramesQuery, TargetView, TraceFinding, TracePreview, TraceRequest } from '../contract.js';
import { type JudgeMessage, schemaProblems } from '../frames/frame-schema.js';
import { findFrames, framesOfCall, viewFrame } from '../frames/frame-views.js';
import { type KeptFrame, KINDS } from '../frames/ring.js';
import { ConsoleError, notFound } from '../http/console-error.js';
import { boolean, integer, listOf, oneOf, optional, readFields, text } from '../http/read-fields.js';
import type { Handlers } from '../http/router.js';
import { findingsIn } from '../trace/trace-findings.js';
import { callLine, connectionLine, frameLine, headLine, type TraceRedactor } from '../trace/write-trace.js';
import type { ConsoleRecords } from './console-records.js';

export interface FrameHandlersOptions {
  readonly target: Pick<TargetView, 'label' | 'kind'>;
  readonly redactor: TraceRedactor;
  readonly judge: JudgeMessage;
  /** Throws where a user may not see a frame. */
  readonly checkFrame?: (frame: KeptFrame, user: ConsoleUser) => void;
}

/** Rows, frames and trace files: the same for both faces. */
export function frameHandlers(
  records: ConsoleRecords,
  { target, redactor, judge, checkFrame }: FrameHandlersOptions,
): Handlers {
  const { ring, connections } = records;
  return {
    'GET connections': () => connections.all(),
    'GET frames': ({ query }) => findFrames(ring, readFields<FramesQuery>(query, FRAMES_QUERY, 'The query')),
    async 'GET frames/:seq'({ segments: [seq], user }) {
      const frame = ring.get(integer(1, MAX)(seq, 'seq'));
      if (!frame) throw notFound(`Frame ${seq} is not in the ring any more, or never was`);
      checkFrame?.(frame, user);
      const view = viewFrame(ring, connections, frame, records.began);
      const schema = await schemaProblems(view, connections.get(view.connection)?.revision, judge);
      return { ...view, ...(schema && { schema }) };
    },
    'POST traces'({ body, user }) {
      const wanted = readFields<TraceRequest>(body, TRACE_FIELDS);
      const { redact = true, dry = false } = wanted;
      if (!redact && !user.levels.includes('record'))
        throw new ConsoleError(403, 'NOT_ALLOWED', `${user.who} may save redacted frames only`);
      const frames = framesFor(records, wanted);
      if (dry) return preview(records, frames, redactor);
      const lines = traceLines(records, frames, target, redact ? redactor : undefined);
      const bytes = Buffer.concat(lines.map((line) => Buffer.from(line)));
      return { bytes, type: 'application/x-ndjson', file: 'isthmus.mcptrace' };
    },
  };
}

export function traceLines(
  records: ConsoleRecords,
  frames: readonly KeptFrame[],
  target: Pick<TargetView, 'label' | 'kind'>,
  redactor: TraceRedactor | undefined,
): string[] {
  const used = new Set(frames.map(({ connection }) => connection));
  const calls = new Set(frames.map(({ call }) => call));
  const head = headLine(records.began, target, redactor !== undefined);
  return [
    redactor ? `${redactor.json(head.trimEnd())}\n` : head,
    ...records.connections
      .all()
      .filter(({ id }) => used.has(id))
      .map((view) => connectionLine(view, redactor)),
    ...[...records.calls.all()]
      .filter(({ row }) => calls.has(row.id))
      .map(({ row }) => callLine(row, redactor)),
    ...frames.map((frame) => frameLine(records.ring, frame, redactor)),
  ];
}

function framesFor({ ring }: ConsoleRecords, { from = 1, to = ring.last, calls }: TraceRequest): KeptFrame[] {
  if (calls) {
    const frames = calls.flatMap((call) => framesOfCall(ring, call));
    return frames.sort((a, b) => a.seq - b.seq);
  }
  const frames: KeptFrame[] = [];
  for (let seq = Math.max(from, ring.first || 1); seq <= Math.min(to, ring.last); seq += 1)
    frames.push(ring.get(seq)!);
  return frames;
}

function preview(
  { ring }: ConsoleRecords,
  frames: readonly KeptFrame[],
  redactor: TraceRedactor,
): TracePreview {
  const findings: TraceFinding[] = [];
  let bytes = 0;
  for (const frame of frames) {
    bytes += frame.stored.length;
    if (findings.length >= MAX_FINDINGS) continue;
    findings.push(...findingsIn(frame.seq, ring.dataOf(frame).toString(), redactor));
  }
  return { frames: frames.length, bytes, findings: findings.slice(0, MAX_FINDINGS) };
}

const MAX = Number.MAX_SAFE_INTEGER;
const MAX_FINDINGS = 200;
const number = optional(integer(0, MAX));
const FRAMES_QUERY = {
  after: number,
  before: number,
  limit: optional(integer(1, 2000)),
  connection: number,
  call: number,
  kind: optional(oneOf(...KINDS)),
  method: optional(text(200)),
  direction: optional(oneOf('to-server', 'to-client')),
  find: optional(text(1000)),
};
const TRACE_FIELDS = {
  from: number,
  to: number,
  calls: optional(listOf(integer(1, MAX), 1000)),
  redact: optional(boolean),
  dry: optional(boolean),
};

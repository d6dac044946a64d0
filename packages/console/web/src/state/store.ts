import { signal } from '@preact/signals';
import type {
  CallRow,
  CheckProgress,
  ConnectionView,
  FeedEvents,
  FindingView,
  ListenView,
  LogRow,
  QuestionView,
  RecordingView,
  SeriesPoint,
  StatusView,
} from '../../../src/contract.js';
import { Keyed } from './keyed.js';
import { RowStore } from './rows.js';

/** What the feed has told, for all screens. Every collection is bounded. */
export const rows = new RowStore(100_000);
export const connections = new Keyed<number, ConnectionView>(2000);
export const calls = new Keyed<number, CallRow>(2500, 50);
export const questions = new Keyed<number, QuestionView>(1000);
export const listens = new Keyed<number, ListenView>(200);
export const logs = new Keyed<number, LogRow>(10_000, 400);
export const checks = new Keyed<number, CheckProgress>(20);
export const recordings = new Keyed<number, RecordingView>(100);
export const findings = new Keyed<string, { readonly run: number; readonly finding: FindingView }>(5000, 200);
/** By server, the newest last. */
export const series = new Keyed<string, readonly SeriesPoint[]>(1000);
export const status = signal<StatusView | undefined>(undefined);

/** The process was started again: nothing of before is true. */
export function forgetAll(): void {
  for (const book of [connections, calls, questions, listens, logs, checks, recordings, findings, series])
    book.clear();
  rows.clear();
  status.value = undefined;
}

/** Takes one event. What is not known is left out: the process may be newer than the page. */
export function take(name: string, data: unknown): void {
  const taker = TAKERS[name as keyof FeedEvents] as ((data: unknown) => void) | undefined;
  taker?.(data);
}

type Takers = { readonly [Name in keyof FeedEvents]?: (data: FeedEvents[Name]) => void };

const TAKERS: Takers = {
  rows: (event) => rows.add(event),
  gap: ({ from, to, lost }) => rows.addGap(from, to, lost),
  connection: (view) => connections.set(view.id, view),
  call: (row) => calls.set(row.id, row),
  question: (view) => questions.set(view.id, view),
  'question-over': ({ id }) => questions.delete(id),
  listen: (view) => listens.set(view.id, view),
  log: (row) => logs.set(row.number, row),
  status: (view) => {
    status.value = view;
  },
  series: (point) => series.set(point.server, [...(series.peek(point.server) ?? []).slice(-59), point]),
  check: ({ finding, ...progress }) => {
    checks.set(progress.id, progress);
    if (finding)
      findings.set(`${progress.id} ${finding.era ?? ''} ${finding.id}`, { run: progress.id, finding });
  },
  recording: (view) => recordings.set(view.id, view),
};

import type { CallRow, QuestionView } from './calls.js';
import type { CheckProgress } from './checks.js';
import type { ConnectionView } from './connections.js';
import type { RowsEvent } from './frames.js';
import type { StatusView } from './gateway.js';
import type { LogRow } from './logs.js';
import type { ListenView } from './offers.js';
import type { SeriesPoint } from './timing.js';
import type { RecordingView } from './traces.js';
import type { EpochMs, Seq } from './words.js';

export type Topic =
  | 'rows'
  | 'connections'
  | 'calls'
  | 'questions'
  | 'listens'
  | 'logs'
  | 'status'
  | 'series'
  | 'checks'
  | 'recordings';

export interface FeedRequest {
  readonly topics: readonly Topic[];
  /** Rows after this frame. 0: all that the ring has. Absent: only those that come. */
  readonly after?: Seq;
  /** Log lines after this number. 0: all that are kept. Absent: only those that come. */
  readonly afterLog?: number;
}

/**
 * The events, by name; the data is one line of JSON. Every topic but `rows`, `logs` and `series` begins with the present
 * state: all connections, the calls that are not over and the last 200 that are, the open questions, the open
 * subscriptions, the status, the runs of checks, the recordings. Then come changes. A comment comes every 15 s.
 *
 * When more than 1 MiB waits for a slow reader, rows are left out and one `gap` says which; the ring has them. Of more than
 * 1,000 log lines a second the newest come, and `LogRow.missed` says how many were left out. All other
 * events are kept up to 8 MiB; beyond that the stream ends with `bye`.
 */
export interface FeedEvents {
  /** The first event. `last`: the newest frame. */
  readonly begin: { readonly now: EpochMs; readonly first: Seq; readonly last: Seq };
  /** At most 2,000 rows, at most every 50 ms. Names come before the first row that uses them. */
  readonly rows: RowsEvent;
  /** These rows were left out, or the ring has lost them (`lost`). */
  readonly gap: { readonly from: Seq; readonly to: Seq; readonly lost: boolean };
  readonly connection: ConnectionView;
  readonly call: CallRow;
  readonly question: QuestionView;
  /** A question was answered, or is not wanted any more. */
  readonly 'question-over': { readonly id: number; readonly why: 'answered' | 'withdrawn' | 'ended' };
  readonly listen: ListenView;
  readonly log: LogRow;
  readonly status: StatusView;
  readonly series: SeriesPoint;
  readonly check: CheckProgress;
  readonly recording: RecordingView;
  /** The stream ends. `ended`: the process ends. `again`: ask again with `after`. `key`: enter again. */
  readonly bye: { readonly why: 'ended' | 'again' | 'key'; readonly message: string };
}

import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import type { Topic } from '../contract.js';
import { eventOf, type FeedTopic } from '../feed/topic.js';
import type { ConsoleRecords } from '../inspect/console-records.js';
import { recordsTopic } from '../inspect/record-topics.js';
import type { CallSeries } from './call-series.js';
import type { Recordings } from './recordings.js';
import type { StatusStore } from './status-store.js';

export interface GatewayTopicParts {
  readonly records: ConsoleRecords;
  readonly status: StatusStore;
  readonly series: CallSeries;
  readonly recordings: Recordings;
  readonly clock: Clock;
}

/** The topics of a feed that the console of a gateway has. Timers run only while somebody looks. */
export function gatewayTopic(
  { records, status, series, recordings, clock }: GatewayTopicParts,
  name: Topic,
  afterLog: number | undefined,
): FeedTopic | undefined {
  switch (name) {
    case 'status':
      return {
        now: () => (status.current ? [eventOf('status', status.current, 'all')] : []),
        watch(tell) {
          const stop = status.changes.watch((view) => tell(eventOf('status', view, 'all')));
          status.soon();
          const off = every(clock, LOOK_MS, () => status.soon());
          return () => {
            stop();
            off();
          };
        },
      };
    case 'series':
      return {
        now: () => [],
        watch: (tell) =>
          every(clock, LOOK_MS, () => {
            for (const point of series.last(clock.now())) tell(eventOf('series', point));
          }),
      };
    case 'recordings':
      return {
        now: () => recordings.all().map((view) => eventOf('recording', view, view.id)),
        watch: (tell) => recordings.changes.watch((view) => tell(eventOf('recording', view, view.id))),
      };
    default:
      return recordsTopic(records, name, afterLog);
  }
}

const LOOK_MS = 5000;

function every(clock: Clock, ms: number, action: () => void): () => void {
  let callOff = () => {};
  const next = () => {
    callOff = clock.after(ms, () => {
      action();
      next();
    });
  };
  next();
  return () => callOff();
}

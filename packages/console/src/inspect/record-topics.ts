import type { Topic } from '../contract.js';
import { eventOf, type FeedTopic } from '../feed/topic.js';
import type { ConsoleRecords } from './console-records.js';

/** The topics of a feed that come from the records. */
export function recordsTopic(
  records: ConsoleRecords,
  name: Topic,
  afterLog: number | undefined,
): FeedTopic | undefined {
  const { connections, calls, questions, listens, logs } = records;
  switch (name) {
    case 'connections':
      return {
        now: () => connections.all().map((view) => eventOf('connection', view, view.id)),
        watch: (tell) => connections.watch((view) => tell(eventOf('connection', view, view.id))),
      };
    case 'calls':
      return {
        now: () => calls.current(RECENT_CALLS).map((row) => eventOf('call', row, row.id)),
        watch: (tell) => calls.changes.watch((row) => tell(eventOf('call', row, row.id))),
      };
    case 'questions':
      return {
        now: () => questions.all().map((question) => eventOf('question', question)),
        watch(tell) {
          const stop = [
            questions.asked.watch((question) => tell(eventOf('question', question))),
            questions.over.watch(({ id, over }) => tell(eventOf('question-over', { id, why: over!.why }))),
          ];
          return () => {
            for (const each of stop) each();
          };
        },
      };
    case 'listens':
      return {
        now: () => listens.all().map((view) => eventOf('listen', view, view.id)),
        watch: (tell) => listens.changes.watch((view) => tell(eventOf('listen', view, view.id))),
      };
    case 'logs':
      return {
        now: () => (afterLog === undefined ? [] : logs.after(afterLog).map((row) => eventOf('log', row))),
        watch: (tell) => logs.changes.watch((row) => tell(eventOf('log', row))),
      };
    default:
      return undefined;
  }
}

const RECENT_CALLS = 200;

import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import type { AccessControl } from '../access/access.js';
import type { FeedRequest, Topic } from '../contract.js';
import type { FrameRing } from '../frames/ring.js';
import { ConsoleError } from '../http/console-error.js';
import { integer, listOf, oneOf, optional, readFields } from '../http/read-fields.js';
import { type ApiRequest, STREAMING } from '../http/router.js';
import { Feed } from './feed.js';
import type { FeedTopic } from './topic.js';

export interface FeedsOptions {
  readonly access: AccessControl;
  readonly clock: Clock;
  readonly ring: FrameRing;
  /** Throws where this user may not see rows. */
  checkRows?(request: ApiRequest): void;
  /** The topics that this console has; `afterLog` is for the topic of logs. */
  topic(name: Exclude<Topic, 'rows'>, afterLog: number | undefined): FeedTopic | undefined;
}

/** The open event streams of all tabs. */
export class Feeds {
  readonly #options: FeedsOptions;
  readonly #open = new Set<Feed>();

  constructor(options: FeedsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#open.size;
  }

  begin(request: ApiRequest): typeof STREAMING {
    const { topics, after, afterLog } = readFields<FeedRequest>(request.body, FIELDS);
    const { access, clock, ring, checkRows, topic } = this.#options;
    if (topics.includes('rows')) checkRows?.(request);
    if (this.#open.size >= MAX_FEEDS)
      throw new ConsoleError(503, 'BUSY', `${MAX_FEEDS} tabs are open already: close one of them`);
    const wanted = topics.flatMap((name) => (name === 'rows' ? [] : (topic(name, afterLog) ?? [])));
    const feed = new Feed(request.exchange, {
      topics: wanted,
      clock,
      ...(topics.includes('rows') && { ring, after }),
      onEnd: () => {
        this.#open.delete(feed);
        off();
      },
    });
    this.#open.add(feed);
    const off = access.onEnd(request.key, () => feed.end('key', 'The key of this page has ended'));
    return STREAMING;
  }

  close(message: string): void {
    for (const feed of [...this.#open]) feed.end('ended', message);
  }
}

const MAX_FEEDS = 60;
const TOPICS = [
  'rows',
  'connections',
  'calls',
  'questions',
  'listens',
  'logs',
  'status',
  'series',
  'checks',
  'recordings',
] as const satisfies readonly Topic[];
const FIELDS = {
  topics: listOf(oneOf(...TOPICS), TOPICS.length),
  after: optional(integer(0, Number.MAX_SAFE_INTEGER)),
  afterLog: optional(integer(0, Number.MAX_SAFE_INTEGER)),
};

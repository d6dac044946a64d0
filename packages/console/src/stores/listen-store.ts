import type { Wanted } from '@isthmus/sdk/internal/client/subscriptions.js';
import { messageOf } from '@isthmus/sdk/internal/errors.js';
import type { Change } from '@isthmus/sdk/internal/exchange/call.js';
import type { CallTarget } from '../calls/call-target.js';
import type { ListenRequest, ListenView } from '../contract.js';
import { ConsoleError, notFound } from '../http/console-error.js';
import { Announcer } from './announcer.js';

/** The subscriptions of the page, also those that have ended. */
export class ListenStore {
  readonly changes = new Announcer<ListenView>();
  readonly #all = new Map<number, Kept>();
  #count = 0;

  /** Opens a subscription. Settles when the server has agreed. */
  async open(callTarget: CallTarget, { server, ...wanted }: ListenRequest): Promise<ListenView> {
    const isOpen = ({ view }: Kept) => view.ended === undefined;
    if ([...this.#all.values()].filter(isOpen).length >= MAX_OPEN)
      throw new ConsoleError(503, 'BUSY', `${MAX_OPEN} subscriptions are open already: end one of them`);
    const queue = await callTarget.caller.listen(wanted as Wanted);
    this.#count += 1;
    const id = this.#count;
    const view: ListenView = {
      ...{ id, wanted, era: callTarget.caller.verdict.era, began: Date.now(), news: [] },
      honoured: toRequest(queue.honoured),
      ...(server !== undefined && { server }),
    };
    this.#all.set(id, { view, stop: () => queue.close(), isStopped: false });
    if (this.#all.size > MAX_KEPT) this.#forget();
    this.changes.tell(view);
    void this.#follow(id, queue);
    return view;
  }

  all(): readonly ListenView[] {
    return [...this.#all.values()].map(({ view }) => view);
  }

  stop(id: number): void {
    const found = this.#all.get(id);
    if (!found) throw notFound(`There is no subscription ${id}`);
    if (found.view.ended) throw new ConsoleError(409, 'GONE', 'This subscription has ended already');
    found.isStopped = true;
    found.stop();
  }

  async #follow(id: number, queue: AsyncIterable<Change>): Promise<void> {
    let why = 'its connection was closed';
    try {
      for await (const change of queue) {
        // The page subscribes to nothing of extensions.
        if (change.kind === 'foreign') continue;
        const uri = change.kind === 'resource' ? { uri: change.uri } : {};
        this.#change(id, ({ news }) => ({
          news: [...news.slice(1 - MAX_NEWS), { at: Date.now(), what: change.kind, ...uri }],
        }));
      }
    } catch (error) {
      why = messageOf(error);
    }
    if (this.#all.get(id)?.isStopped) why = 'it was ended here';
    this.#change(id, () => ({ ended: { at: Date.now(), why } }));
  }

  #change(id: number, change: (view: ListenView) => Partial<ListenView>): void {
    const found = this.#all.get(id);
    if (!found) return;
    found.view = { ...found.view, ...change(found.view) };
    this.changes.tell(found.view);
  }

  #forget(): void {
    for (const [id, { view }] of this.#all) if (view.ended) return void this.#all.delete(id);
  }
}

interface Kept {
  view: ListenView;
  readonly stop: () => void;
  /** A person ended it. */
  isStopped: boolean;
}

interface Honoured {
  readonly toolsListChanged?: boolean;
  readonly promptsListChanged?: boolean;
  readonly resourcesListChanged?: boolean;
  readonly resourceSubscriptions?: readonly string[];
}

function toRequest(honoured: Honoured): ListenView['honoured'] {
  return {
    ...(honoured.toolsListChanged && { tools: true }),
    ...(honoured.promptsListChanged && { prompts: true }),
    ...(honoured.resourcesListChanged && { resources: true }),
    ...(honoured.resourceSubscriptions && { uris: honoured.resourceSubscriptions }),
  };
}

const MAX_OPEN = 50;
const MAX_KEPT = 200;
const MAX_NEWS = 100;

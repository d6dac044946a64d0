import { isDeepStrictEqual } from 'node:util';
import { createDeferred } from '@isthmus/sdk/internal/async/deferred.js';
import { IsthmusError, messageOf } from '@isthmus/sdk/internal/errors.js';
import { outageOf } from '@isthmus/sdk/internal/oauth/discovery/oauth-http.js';
import { LoginNotFinished, type LoginStatus } from '@isthmus/sdk/internal/oauth/login-status.js';
import type { LoginEvent, LoginRequest } from './login-manager.js';

/** What a login with a user does. */
export interface LoginWork {
  run(tell: (event: LoginEvent) => void, signal: AbortSignal): Promise<LoginStatus>;
  /** Gives the response of a browser that came back elsewhere. Throws when the login does not wait for it. */
  finish(response: string): void;
  /** Set when the login failed because the client secret was not to be sent there. */
  untrustedIssuer(): string | undefined;
}

/** One login with a user, and all who watch it. They may come later, and may go before it ends. */
export class RunningLogin {
  readonly #request: LoginRequest;
  readonly #work: LoginWork;
  readonly #events: LoginEvent[] = [];
  readonly #over = new AbortController();
  /** One for each stream of events. */
  readonly #watchers = new Set<object>();
  #next = createDeferred<void>();
  #isKept = false;
  /** Who may open the page. */
  #opener: object | undefined;
  #wasOpened = false;

  constructor(request: LoginRequest, work: LoginWork) {
    this.#request = request;
    this.#work = work;
  }

  get url(): string {
    return this.#request.url;
  }

  /** The page that the user visits, as soon as it is known. */
  get page(): string | undefined {
    const found = this.#events.findLast(({ kind }) => kind === 'page' || kind === 'code');
    return found && 'page' in found ? found.page : undefined;
  }

  /** What the login waits for, in words. */
  get reason(): string {
    return this.#wasOpened ? 'its page was opened in a browser' : 'its page is to be opened by the user';
  }

  /** Settles when the login has ended. Never rejects. */
  async run(): Promise<void> {
    const tell = (event: LoginEvent) => {
      this.#events.push(event);
      const before = this.#next;
      this.#next = createDeferred<void>();
      before.resolve();
    };
    try {
      tell({ kind: 'done', status: await this.#work.run(tell, this.#over.signal) });
    } catch (error) {
      tell({
        kind: 'failed',
        code: error instanceof IsthmusError ? error.code : 'UNAUTHORIZED',
        message: messageOf(error),
        isAway: outageOf(error) !== undefined && (error as IsthmusError).code === 'ADDRESS_UNAVAILABLE',
        isLate: error instanceof IsthmusError && error.cause instanceof LoginNotFinished,
        untrustedIssuer: this.#work.untrustedIssuer(),
      });
    }
  }

  /** Everything that has happened, and what follows. */
  async *watch({ keep, canOpen }: LoginRequest, signal: AbortSignal): AsyncGenerator<LoginEvent> {
    const self = {};
    this.#watchers.add(self);
    this.#isKept ||= keep;
    const gone = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    try {
      for (let at = 0; !signal.aborted; ) {
        const event = this.#events[at];
        if (!event) {
          await Promise.race([this.#next.promise, gone]);
          continue;
        }
        at += 1;
        yield event.kind === 'page' ? { ...event, mayOpen: canOpen && this.#mayOpen(self) } : event;
        if (event.kind === 'done' || event.kind === 'failed') return;
      }
    } finally {
      this.#leave(self);
    }
  }

  opened(): void {
    this.#wasOpened = true;
  }

  finish(response: string): void {
    this.#work.finish(response);
  }

  /** Throws for a request that this login would not fulfil. */
  checkJoin({ options }: LoginRequest): void {
    if (isDeepStrictEqual(options, this.#request.options)) return;
    const message = `Another login for ${nameOf(this.url)}, with other options, is under way; finish it, or end it with isthmus logout ${nameOf(this.url)}`;
    throw new IsthmusError('BUSY', message, { sent: 'no' });
  }

  cancel(): void {
    this.#over.abort(new IsthmusError('CANCELLED', 'The login was cancelled', { sent: 'no' }));
  }

  /** One of them opens it. When that one is gone and has not done so, a later one may. */
  #mayOpen(watcher: object): boolean {
    if (!this.#wasOpened) this.#opener ??= watcher;
    return !this.#wasOpened && this.#opener === watcher;
  }

  #leave(watcher: object): void {
    this.#watchers.delete(watcher);
    if (this.#opener === watcher) this.#opener = undefined;
    if (this.#watchers.size === 0 && !this.#isKept) this.cancel();
  }
}

/** Without the query, which may hold secrets. */
export function nameOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

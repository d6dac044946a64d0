import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import type { OpenedConsole } from '../run-gateway.js';

/** The console of a gateway. It is opened on the first request for it. Until then nothing listens. */
export class LazyConsole {
  readonly #open: (() => Promise<OpenedConsole>) | undefined;
  #opening: Promise<OpenedConsole> | undefined;

  constructor(open: (() => Promise<OpenedConsole>) | undefined) {
    this.#open = open;
  }

  async open(): Promise<OpenedConsole> {
    if (!this.#open)
      throw new IsthmusError(
        'INVALID_OPTION',
        'This gateway has no console: it was started with --console off',
      );
    this.#opening ??= this.#open();
    try {
      return await this.#opening;
    } catch (error) {
      // The next one may try again.
      this.#opening = undefined;
      throw error;
    }
  }

  async close(): Promise<void> {
    const opened = await this.#opening?.catch(() => undefined);
    await opened?.close();
  }
}

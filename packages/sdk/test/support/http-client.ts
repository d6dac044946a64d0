import { onTestFinished } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { eventually } from '../../../../test/support/until.js';
import { type Client, type ConnectOptions, connect } from '../../src/index.js';
import { type HttpConnectOptions, http } from '../../src/transport/http.js';

/** A client of our own, closed when the test ends. */
export async function open(
  url: string,
  options: HttpConnectOptions = {},
  more: ConnectOptions = {},
): Promise<Client> {
  const client = await connect(http(url, options), { cache: false, ...more });
  onTestFinished(() => client.close());
  return client;
}

/** What a failure says of itself. */
export async function failure(work: Promise<unknown>): Promise<Record<string, unknown>> {
  const error = await work.then(
    (value) => ({ name: 'no failure', value }),
    (error: Error & Record<string, unknown>) => error,
  );
  const { code, message, sent, status } = error as unknown as Record<string, unknown>;
  return JSON.parse(JSON.stringify({ name: error.name, code, message, sent, status }));
}

export function textOf({ content }: { content?: readonly object[] }): string {
  return (content ?? []).map((block) => ('text' in block ? String(block.text) : '')).join('');
}

/** Time that stands still, and knows what it was asked for. */
export class WatchedClock extends FakeClock {
  readonly delays: number[] = [];

  override after(ms: number, action: () => void): () => void {
    this.delays.push(ms);
    return super.after(ms, action);
  }

  /** Waits until somebody waits for `ms`, then lets all of it pass; `early` is run a moment before. */
  async pass(ms: number, early = () => {}): Promise<void> {
    await eventually(() => {
      if (!this.delays.includes(ms))
        throw new Error(`nobody waits for ${ms} ms, but ${this.delays.join(', ')}`);
    });
    this.delays.splice(this.delays.indexOf(ms), 1);
    this.advance(ms - 1);
    early();
    this.advance(1);
  }
}

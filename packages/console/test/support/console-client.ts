import type { FeedEvents, RouteName, Routes, Topic } from '../../src/contract.js';

/** What a request takes besides its name. */
interface Asked<Name extends RouteName> {
  readonly path?: readonly (string | number)[];
  readonly query?: Routes[Name]['query'];
  readonly body?: Routes[Name]['body'];
  readonly headers?: Readonly<Record<string, string>>;
}

export interface FeedReader {
  /** All events so far. */
  readonly events: readonly { readonly name: keyof FeedEvents; readonly data: never }[];
  /** The data of the first event with this name that fits, now or later. */
  next<Name extends keyof FeedEvents>(
    name: Name,
    fits?: (data: FeedEvents[Name]) => boolean,
  ): Promise<FeedEvents[Name]>;
  close(): void;
}

/** Talks to a console as its page does. */
export class ConsoleClient {
  readonly origin: string;
  key: string;

  constructor(origin: string, key = '') {
    this.origin = origin;
    this.key = key;
  }

  /** Enters with the link of an address. */
  static async enter(address: string): Promise<ConsoleClient> {
    const { origin, hash } = new URL(address);
    const client = new ConsoleClient(origin);
    const { key } = await client.ask('POST enter', { body: { link: hash.slice('#enter='.length) } });
    client.key = key;
    return client;
  }

  async ask<Name extends RouteName>(name: Name, asked: Asked<Name> = {}): Promise<Routes[Name]['answer']> {
    const response = await this.send(name, asked);
    const text = await response.text();
    if (!response.ok) throw new Error(`${response.status} ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as Routes[Name]['answer'];
  }

  send<Name extends RouteName>(name: Name, { path = [], query, body, headers }: Asked<Name> = {}) {
    const [method, route] = name.split(' ') as [string, string];
    const values = [...path];
    const filled = route.replace(/:\w+/g, () => encodeURIComponent(String(values.shift())));
    const search = new URLSearchParams(
      Object.entries(query ?? {}).map(([key, value]): [string, string] => [key, String(value)]),
    );
    return fetch(`${this.origin}/console/api/${filled}?${search}`, {
      method,
      headers: {
        'isthmus-key': this.key,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }

  async feed(
    topics: readonly Topic[],
    more: { after?: number; afterLog?: number } = {},
  ): Promise<FeedReader> {
    const response = await this.send('POST feed', { body: { topics, ...more } });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    return readFeed(response);
  }

  /** Begins a call and waits for its end. */
  async call(method: string, params: string, more: { lens?: boolean; timeoutMs?: number } = {}) {
    const feed = await this.feed(['calls']);
    const { call } = await this.ask('POST calls', { body: { method, params, ...more } });
    await feed.next('call', ({ id, state }) => id === call && state === 'done');
    feed.close();
    return this.ask('GET calls/:id', { path: [call] });
  }
}

function readFeed(response: Response): FeedReader {
  const events: { name: keyof FeedEvents; data: never }[] = [];
  const waiting = new Set<() => void>();
  const reader = response.body!.getReader();
  const read = async () => {
    let text = '';
    const decoder = new TextDecoder();
    for (;;) {
      const { value, done } = await reader.read().catch(() => ({ value: undefined, done: true }));
      if (done) return;
      text += decoder.decode(value, { stream: true });
      const parts = text.split('\n\n');
      text = parts.pop()!;
      for (const part of parts) {
        const found = /^event: (\S+)\ndata: (.*)$/s.exec(part);
        if (found) events.push({ name: found[1] as never, data: JSON.parse(found[2]!) as never });
      }
      for (const look of [...waiting]) look();
    }
  };
  void read();
  return {
    events,
    next: (name, fits = () => true) =>
      new Promise((resolve) => {
        const look = () => {
          const found = events.find((event) => event.name === name && fits(event.data));
          if (!found) return;
          waiting.delete(look);
          resolve(found.data);
        };
        waiting.add(look);
        look();
      }),
    close: () => void reader.cancel(),
  };
}

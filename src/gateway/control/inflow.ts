/** Things that come when they come, for somebody who takes them one by one. */
export interface Inflow<T> extends AsyncIterable<T> {
  add(item: T): void;
  /** Those that are there are still to be had. */
  end(): void;
  fail(error: unknown): void;
}

export interface InflowOptions {
  /** More is waiting than should: whoever adds should hold back. */
  readonly onFull: () => void;
  readonly onRoom: () => void;
}

export function createInflow<T>({ onFull, onRoom }: InflowOptions): Inflow<T> {
  let items: T[] = [];
  let isFull = false;
  let end: { readonly error?: unknown } | undefined;
  let wake = () => {};
  const finish = (how: { readonly error?: unknown }) => {
    end ??= how;
    wake();
  };
  return {
    add(item) {
      if (end) return;
      items.push(item);
      if (!isFull && items.length >= MOST) {
        isFull = true;
        onFull();
      }
      wake();
    },
    end: () => finish({}),
    fail: (error) => finish({ error }),
    async *[Symbol.asyncIterator]() {
      while (true) {
        const batch = items;
        items = [];
        if (isFull) {
          isFull = false;
          onRoom();
        }
        yield* batch;
        if (items.length > 0) continue;
        if (end) {
          if ('error' in end) throw end.error;
          return;
        }
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

const MOST = 1000;

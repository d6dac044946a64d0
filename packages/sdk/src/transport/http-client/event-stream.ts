import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { tooLarge } from './bodies.js';

export interface EventHandlers {
  onEvent(event: EventSourceMessage): void;
  /** The server says how long to wait before a stream is opened again. */
  onRetry?(ms: number): void;
  /** Waited for before more is read. */
  ready?(): Promise<void> | undefined;
}

/**
 * Reads a stream of events to its end; rejects when it breaks off or when one event outgrows the limit. An event
 * that was not finished is no event (HTML standard, "Interpreting an event stream").
 */
export async function readEvents(
  body: AsyncIterable<Uint8Array>,
  label: string,
  maxBytes: number,
  handlers: EventHandlers,
): Promise<void> {
  const utf8 = new TextDecoder();
  let overgrown = false;
  const parser = createParser({
    maxBufferSize: maxBytes,
    onEvent: (event) => handlers.onEvent(event),
    onRetry: (ms) => handlers.onRetry?.(ms),
    onError: ({ type }) => {
      // Unknown fields and the like are to be passed over.
      if (type === 'max-buffer-size-exceeded') overgrown = true;
    },
  });
  for await (const chunk of body) {
    parser.feed(utf8.decode(chunk, { stream: true }));
    if (overgrown) throw tooLarge(label, maxBytes);
    await handlers.ready?.();
  }
}

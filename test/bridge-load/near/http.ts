import {
  legacyRequest,
  modern,
  open,
  openSession,
  type Stream,
} from '../../../packages/sdk/test/support/http-server.js';
import type { Message } from '../../support/messages.js';
import { CAPABILITIES, emptyNear, inRounds, type Json, type Near, questionIn } from './near.js';

export interface HttpNearOptions {
  readonly headers?: Record<string, string>;
  readonly capabilities?: object;
}

/** Every request on a connection of its own. */
export function modernHttp(url: string, name: string, options: HttpNearOptions = {}): Near {
  const { headers = {}, capabilities = CAPABILITIES } = options;
  const streams: Stream[] = [];
  const near: Near = {
    ...emptyNear(name, 'modern'),
    request(id, method, params = {}, meta = {}) {
      const send = async (as: string | number, full: Json) => {
        const stream = await open(url, modern(as, method, full, { headers, capabilities, meta }));
        return lastWord(stream, as, (other) => near.strays.push(other));
      };
      return inRounds(near, send, id, params);
    },
    async listen(uri) {
      const notifications = { resourceSubscriptions: [uri] };
      const ask = modern('listen', 'subscriptions/listen', { notifications }, { headers, capabilities });
      const stream = await open(url, ask);
      streams.push(stream);
      const { params } = await stream.next();
      if (JSON.stringify(params?.['notifications']) !== JSON.stringify(notifications)) {
        throw new Error(`${name} is not told of ${uri}: ${stream.text}`);
      }
      void keepHearing(near, stream);
    },
    async leave() {
      for (const stream of streams) stream.hangUp();
    },
  };
  return near;
}

/** A session, with a standing stream once it listens. */
export async function legacyHttp(url: string, name: string, options: HttpNearOptions = {}): Promise<Near> {
  const { headers = {}, capabilities = CAPABILITIES } = options;
  const session = await openSession(url, { headers, capabilities });
  const streams: Stream[] = [];
  const near: Near = {
    ...emptyNear(name, 'legacy'),
    async request(id, method, params, meta) {
      const full = { ...params, ...(meta && { _meta: meta }) };
      const stream = await session.open(legacyRequest(id, method, full));
      return lastWord(stream, id, async (question) => {
        if (question.method !== 'elicitation/create') return near.strays.push(question);
        near.asked.push(questionIn(question));
        const result = await near.answer(questionIn(question));
        return session.post({ jsonrpc: '2.0', id: question.id, result });
      });
    },
    async listen(uri) {
      const stream = await session.get();
      streams.push(stream);
      void keepHearing(near, stream);
      const { error } = await near.request(`listen ${uri}`, 'resources/subscribe', { uri });
      if (error) throw new Error(`${name} is not told of ${uri}: ${error.message}`);
    },
    async leave() {
      await session.delete();
      for (const stream of streams) stream.hangUp();
    },
  };
  return near;
}

/** The answer to a request. What comes before it, but notifications, is handed on; after it there must be nothing. */
async function lastWord(
  stream: Stream,
  id: string | number,
  onOther: (message: Message) => unknown,
): Promise<Message> {
  if (stream.headers['content-type'] !== 'text/event-stream') {
    await stream.end();
    if (stream.text === '') throw new Error(`status ${stream.status} without a word`);
    return JSON.parse(stream.text) as Message;
  }
  for (let count = 1; ; count += 1) {
    const message = await stream.next();
    if (message.id === id && message.method === undefined) {
      await stream.end();
      const more = stream.messages.slice(count);
      if (more.length > 0) throw new Error(`after the answer came ${JSON.stringify(more)}`);
      return message;
    }
    if (message.id !== undefined) void onOther(message);
  }
}

async function keepHearing(near: Near, stream: Stream): Promise<void> {
  try {
    for (;;) {
      const { method, params } = await stream.next();
      if (method === 'notifications/resources/updated') near.heard.push(String(params?.['uri']));
    }
  } catch {
    // The stream is over.
  }
}

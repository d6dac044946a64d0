import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import type { HttpEvent, HttpPeer } from '../wire/http-peer.js';
import type { StreamPeer } from '../wire/stream-peer.js';

/**
 * A connection over HTTP with SSE, as of 2024-11-05: all that the server says comes on one stream, whose first event
 * names the address for what it hears. Undefined where there is no such stream.
 */
export async function openSsePeer(peer: HttpPeer, ms: number, clock: Clock): Promise<StreamPeer | undefined> {
  let named: (event: HttpEvent) => void = () => {};
  const endpoint = new Promise<HttpEvent | undefined>((resolve) => {
    named = (event) => event.event === 'endpoint' && resolve(event);
    clock.after(ms, () => resolve(undefined), { background: true });
  });
  const stream = await peer.request({
    method: 'GET',
    headers: { accept: 'text/event-stream' },
    ms,
    onEvent: (event) => named(event),
  });
  if (stream.status !== 200 || !stream.isStream) {
    stream.close();
    return undefined;
  }
  const event = await Promise.race([endpoint, stream.ended.then(() => undefined)]);
  if (!event) {
    stream.close();
    return undefined;
  }
  const url = new URL(event.data, peer.url);
  void stream.ended.then(() => peer.transcript.end());
  const post = async (body: unknown): Promise<boolean> => {
    try {
      const answer = await peer.request({ url, body, headers: { 'content-type': 'application/json' }, ms });
      await answer.whole(ms);
      return answer.status < 300;
    } catch {
      // What is not answered is missed by whoever waits for it.
      return false;
    }
  };
  return {
    transcript: peer.transcript,
    process: undefined,
    send: (message) => void post(message),
    sendLine: (line) => void post(line),
    sendBytes: post,
    async sendInPieces(bytes) {
      await post(bytes);
    },
    endInput() {},
    vanish: () => stream.close(),
    pause() {},
    resume() {},
    ended: peer.transcript.ended,
    get hasEnded() {
      return peer.transcript.hasEnded;
    },
    async close() {
      stream.close();
      peer.close();
    },
  };
}

import { expect, onTestFinished } from 'vitest';
import { createBridge } from '../../../src/bridge/index.js';
import { serve } from '../../../src/index.js';
import { type HttpListenOptions, http } from '../../../src/transport/http.js';
import { type modern, open, type Stream } from '../http-server.js';
import { type FarOptions, FarServer } from './far.js';
import type { Era, Frame, Message } from './frames.js';
import { farProblems } from './judge-far.js';
import { nearProblems } from './judge-near.js';

/** A bridge whose clients come over HTTP. What each stream held is judged with the request that opened it. */
export async function bridgeAt(
  era: Era,
  far: Omit<FarOptions, 'era'> = {},
  listening: HttpListenOptions = {},
) {
  const server = new FarServer({ era, ...far });
  const bridge = createBridge(server, { cache: false });
  const served = await serve(bridge, http({ port: 0, ...listening }));
  const [url] = served.addresses as [string];
  const judged: { readonly body: string; readonly stream: Stream }[] = [];
  onTestFinished(async () => {
    await served.close({ graceMs: 0 });
    await bridge.close();
    const found = judged.flatMap(({ body, stream }) => {
      const { messages } = stream.answer();
      const frames: Frame[] = [{ from: 'client', message: JSON.parse(body) as Message }];
      return nearProblems(
        [...frames, ...messages.map((message) => ({ from: 'server' as const, message }))],
        '2026-07-28',
      );
    });
    found.push(...server.connections.flatMap(({ frames, revision }) => farProblems(frames, revision)));
    expect(found).toEqual([]);
  });
  /** A modern request, read as it comes. */
  const post = async (request: ReturnType<typeof modern>) => {
    const stream = await open(url, request);
    judged.push({ body: request.body as string, stream });
    return stream;
  };
  return { url, far: server, bridge, post };
}

/** What came on a stream, or as the whole answer. */
export async function answered(stream: Stream): Promise<Message> {
  await stream.end();
  return stream.answer().messages.at(-1)!;
}

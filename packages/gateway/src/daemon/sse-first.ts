import { createParser } from 'eventsource-parser';
import type { AttachParams } from './definition.js';

/** With `sseFirst`, tries the transport of 2024-11-05, and keeps to it when the server speaks it. */
export async function withTransport(params: AttachParams): Promise<AttachParams> {
  const { server, sseFirst } = params;
  if (!sseFirst || server.kind !== 'url') return params;
  if (!(await speaksSse2024(server.url, server.headers))) return params;
  return { ...params, server: { ...server, transport: 'sse' } };
}

/**
 * Whether the server speaks the transport of 2024-11-05: its first event is `endpoint`. Never rejects. False when the
 * server cannot be reached.
 */
async function speaksSse2024(
  url: string,
  headers: Readonly<Record<string, string>>,
  timeoutMs = TIMEOUT_MS,
): Promise<boolean> {
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(), timeoutMs);
  try {
    const answer = await fetch(url, {
      headers: { ...headers, accept: 'text/event-stream' },
      // The headers may contain credentials for this address only.
      redirect: 'manual',
      signal: over.signal,
    });
    const isStream = /^text\/event-stream\b/i.test(answer.headers.get('content-type') ?? '');
    return (
      answer.status === 200 && isStream && answer.body !== null && (await beginsWithEndpoint(answer.body))
    );
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
    over.abort();
  }
}

async function beginsWithEndpoint(body: ReadableStream<Uint8Array>): Promise<boolean> {
  let first: string | undefined;
  const parser = createParser({
    onEvent({ event }) {
      first ??= event ?? 'message';
    },
  });
  let read = 0;
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    parser.feed(chunk);
    read += chunk.length;
    if (first !== undefined || read > MAX_CHARS) break;
  }
  return first === 'endpoint';
}

/** Another stream may stay silent for long. */
const TIMEOUT_MS = 3000;
const MAX_CHARS = 64 * 1024;

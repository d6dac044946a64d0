import { META } from '@isthmus/sdk/internal/era/meta-keys.js';
import { messageOf } from '@isthmus/sdk/internal/errors.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { legacyHeaders } from '../../conversation/http-legacy-conversation.js';
import { modernHeaders } from '../../conversation/http-modern-conversation.js';
import type { CheckContext } from '../../run/check-context.js';
import { type Frame, membersOf } from '../../wire/transcript.js';

/** A connection without a handshake, over any transport. Over HTTP: requests without a session. */
interface RawLine {
  ask(message: JsonObject, ms?: number): Promise<HeardLine>;
  say(message: JsonObject): Promise<void>;
}

/** The answer. It has neither result nor error if there was none. */
interface HeardLine {
  readonly result?: JsonObject;
  readonly error?: { readonly code: number; readonly message: string; readonly data: unknown };
  /** HTTP only. */
  readonly status?: number;
  /** A description for reports. */
  readonly seen: string;
}

export async function openLine(context: CheckContext): Promise<RawLine> {
  return context.target.transport === 'http' ? httpLine(context) : streamLine(context);
}

async function streamLine(context: CheckContext): Promise<RawLine> {
  const peer = await context.openStream();
  let isFirst = true;
  return {
    async ask(message, ms = isFirst ? context.patience.helloMs : context.patience.answerMs) {
      isFirst = false;
      peer.send(message);
      const frame = await peer.transcript.waitFor(
        (each) => each.kind !== 'request' && membersOf(each)['id'] === message['id'],
        ms,
      );
      return heardIn(frame, peer.hasEnded ? 'the connection ended' : `no answer within ${ms} ms`);
    },
    async say(message) {
      peer.send(message);
    },
  };
}

function httpLine(context: CheckContext): RawLine {
  const peer = context.openHttp();
  const ms = context.patience.answerMs;
  const send = (body: JsonObject) => peer.request({ body, headers: headersFor(body), ms });
  return {
    async ask(message) {
      try {
        const http = await send(message);
        const frame = await http.waitFor(({ kind }) => kind === 'result' || kind === 'error', ms);
        http.close();
        return { ...heardIn(frame, `HTTP ${http.status} without an answer`), status: http.status };
      } catch (error) {
        return { seen: messageOf(error) };
      }
    },
    async say(message) {
      (await send(message)).close();
    },
  };
}

/** The headers of a modern request repeat its `_meta`. A legacy request has no session here. */
function headersFor(body: JsonObject): Record<string, string> {
  const params = isJsonObject(body['params']) ? body['params'] : {};
  const meta = isJsonObject(params['_meta']) ? params['_meta'] : {};
  const version = meta[META.protocolVersion];
  if (typeof version !== 'string') return legacyHeaders(undefined, undefined);
  return modernHeaders({ method: String(body['method']), params }, version);
}

function heardIn(frame: Frame | undefined, otherwise: string): HeardLine {
  if (!frame) return { seen: otherwise };
  const { result, error } = membersOf(frame);
  const seen = frame.text.length > 160 ? `${frame.text.slice(0, 160)}…` : frame.text;
  if (isJsonObject(result)) return { result, seen };
  if (!isJsonObject(error)) return { seen };
  const { code, message, data } = error;
  return { error: { code: Number(code), message: String(message), data }, seen };
}

/** Skips unless the target supports both eras. */
export function needBothEras(context: CheckContext): void {
  for (const era of ['modern', 'legacy'] as const)
    if (!context.factsOf(era)) context.skip(`the target does not support the ${era} era`);
}

/** All dates in the value that look like revisions. */
export function versionsIn(value: unknown): readonly string[] {
  return [...(JSON.stringify(value) ?? '').matchAll(/\b20\d\d-\d\d-\d\d\b/g)].map(([date]) => date);
}

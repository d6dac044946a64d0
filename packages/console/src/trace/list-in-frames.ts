import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { listNamed } from '../calls/read-list.js';
import type { ListPage } from '../contract.js';
import { type FrameRing, KINDS } from '../frames/ring.js';

/** A list of the server as the frames have it: each item as it was seen last. */
export function listInFrames(ring: FrameRing, what: string): ListPage {
  const { method, member } = listNamed(what);
  const items = new Map<string, JsonObject>();
  const frames: number[] = [];
  for (let seq = Math.max(ring.first, 1); seq <= ring.last; seq += 1) {
    const frame = ring.get(seq);
    if (!frame || KINDS[frame.kind] !== 'result' || ring.names.textOf(frame.method) !== method) continue;
    frames.push(seq);
    for (const item of itemsIn(ring.dataOf(frame).toString(), member))
      items.set(String(item['uri'] ?? item['uriTemplate'] ?? item['name']), item);
  }
  return { items: [...items.values()], frames };
}

function itemsIn(text: string, member: string): JsonObject[] {
  try {
    const message: unknown = JSON.parse(text);
    const result = isJsonObject(message) ? message['result'] : undefined;
    const found = isJsonObject(result) ? result[member] : undefined;
    return Array.isArray(found) ? found.filter(isJsonObject) : [];
  } catch {
    return [];
  }
}

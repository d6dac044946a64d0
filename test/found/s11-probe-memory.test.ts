import type { Connection, Receiver } from '@isthmus/sdk/internal/exchange/connection.js';
import type { DecodedMessage } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { watchConnector } from 'isthmus/internal/session/watch-connector.js';
import { expect, it } from 'vitest';

const MIB = 1024 * 1024;

/** A server that says what the test says. */
async function watched() {
  let receiver: Receiver | undefined;
  const inner = {
    label: 'far',
    principal: undefined,
    open: (given: Receiver) => {
      receiver = given;
    },
  } as unknown as Connection;
  const connector = watchConnector({ label: 'far', identity: 'far', connect: async () => inner });
  const received: unknown[] = [];
  const end = { receive: (...all: unknown[]) => received.push(all), inputEnded() {}, drained() {} };
  (await connector.connect()).open(end as unknown as Receiver);
  return { connector, received, say: (...all: Parameters<Receiver['receive']>) => receiver!.receive(...all) };
}

const result = (id: number, text = ''): DecodedMessage => ({ kind: 'result', id, result: { text } });
const idsOf = (seen: readonly DecodedMessage[]) => seen.map((each) => (each as { id: number }).id);

it('S11: what probe keeps of the first answers is bounded in bytes, and all of it is passed on', async () => {
  const { connector, received, say } = await watched();
  for (let id = 1; id <= 5; id += 1) say(result(id), undefined, 1.5 * MIB);
  say(result(6), undefined, 64 * MIB);
  say(result(7), undefined, 100);
  expect(idsOf(connector.seen)).toEqual([1, 2, 7]);
  expect(received).toHaveLength(7);
  expect(received[6]).toEqual([result(7), undefined, 100]);
});

it('S11: also where the transport does not tell the length of a message', async () => {
  const { connector, say } = await watched();
  for (let id = 1; id <= 5; id += 1) say(result(id, 'x'.repeat(1.5 * MIB)));
  say(result(6));
  expect(idsOf(connector.seen)).toEqual([1, 2, 6]);
});

it('S11: a flood of small answers is bounded by their number, and notifications are not kept', async () => {
  const { connector, say } = await watched();
  say({ kind: 'notification', method: 'notifications/message', params: {} } as DecodedMessage, undefined, 10);
  for (let id = 1; id <= 150; id += 1) say(result(id), undefined, 10);
  expect(idsOf(connector.seen)).toEqual(Array.from({ length: 100 }, (_, at) => at + 1));
});

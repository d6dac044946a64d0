import type { Connection, Receiver } from '@isthmus/sdk/internal/exchange/connection.js';
import type { Decoded } from '@isthmus/sdk/internal/wire/json-rpc.js';

/**
 * What a shim says when its host has closed its end and answers are still due. It keeps its own end open: the end of
 * a socket looks the same whether the shim has nothing more to say or was killed.
 */
export const INPUT_ENDED = 'notifications/isthmus/inputEnded';

/** The connection of a shim. When the shim is gone its calls are cancelled at once, since no one reads the answers. */
export function endWithHost(connection: Connection): Connection {
  const open = connection.open.bind(connection);
  connection.open = (receiver) => open(shimReceiver(connection, receiver));
  return connection;
}

function shimReceiver(connection: Connection, receiver: Receiver): Receiver {
  return {
    receive(message, about, bytes) {
      if (isInputEnded(message)) receiver.inputEnded();
      else receiver.receive(message, about, bytes);
    },
    inputEnded: () => connection.close(),
    drained: () => receiver.drained(),
  };
}

function isInputEnded(message: Decoded): boolean {
  return message.kind === 'notification' && message.method === INPUT_ENDED;
}

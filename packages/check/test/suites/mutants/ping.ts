import type { AnyMutant } from '../../support/suites/mutant.js';

export const pingMutants: readonly AnyMutant[] = [
  {
    check: 'ping/answered',
    fault: 'answers ping with members',
    seen: /pong/,
    middle: () => {
      let pingId: unknown;
      return {
        incoming(message) {
          if (message['method'] === 'ping') pingId = message['id'];
          return message;
        },
        outgoing: (message) =>
          pingId !== undefined && message['id'] === pingId ? { ...message, result: { pong: true } } : message,
      };
    },
  },
  {
    check: 'ping/answered',
    fault: 'does not know ping',
    proxy: () => ({
      request: ({ json }) =>
        json?.['method'] === 'ping'
          ? {
              respond: {
                status: 200,
                headers: { 'content-type': 'application/json' },
                body: JSON.stringify({
                  jsonrpc: '2.0',
                  id: json['id'],
                  error: { code: -32601, message: 'no' },
                }),
              },
            }
          : undefined,
    }),
  },
];

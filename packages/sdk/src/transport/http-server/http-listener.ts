import type { Listener } from '../../exchange/connection.js';
import { Endpoint } from './endpoint.js';
import { NodeExchange } from './node-exchange.js';
import { checkPort, type NodeServerOptions, openNodeServer } from './node-server.js';
import type { HttpEndpointOptions } from './options.js';

export interface HttpListenOptions extends HttpEndpointOptions, NodeServerOptions {}

/** Serves HTTP on a port of its own. */
export function httpListener(options: HttpListenOptions): Listener {
  checkPort(options);
  const endpoint = new Endpoint({ ownNames: [options.host ?? '127.0.0.1'], ...options });
  return {
    ownsProcess: false,
    async listen(accept, served) {
      const server = await openNodeServer(options, endpoint.settings.clock, (request, response, unread) => {
        void endpoint.handle(new NodeExchange(request, response, undefined, unread));
      });
      endpoint.begin(accept, served);
      return {
        address: `${server.origin}${endpoint.settings.path ?? ''}`,
        ended: server.ended,
        async stop() {
          endpoint.stop();
          server.stop();
        },
        release: () => server.release(),
      };
    },
  };
}

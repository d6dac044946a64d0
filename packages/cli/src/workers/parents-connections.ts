import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { createDeferred, type Deferred } from '@isthmus/sdk/internal/async/deferred.js';
import type { AcceptedConnections } from '@isthmus/sdk/internal/transport/http-server/node-server.js';
import type { ToParent, ToWorker } from './worker-messages.js';

/** Takes the connections that the parent accepts, in a worker. */
export class ParentsConnections implements AcceptedConnections {
  readonly #send: (message: ToParent) => void;
  readonly #places = new Map<number, { readonly server: Server; readonly port: Deferred<number> }>();
  #last = 0;
  #folder = '';

  constructor(send: (message: ToParent) => void) {
    this.#send = send;
  }

  /** The folder for sockets of this worker. */
  begin(folder: string): void {
    this.#folder = folder;
  }

  async open(server: Server, { host, port }: { readonly host: string; readonly port: number }) {
    this.#last += 1;
    const id = this.#last;
    const asked = createDeferred<number>();
    this.#places.set(id, { server, port: asked });
    this.#send({ of: 'workers', kind: 'listen', id, host, port });
    const real = await asked.promise;
    // Node watches the connections of a server that listens, and closes it in order. So it listens where no client connects.
    const own = `${this.#folder}${process.pid}-${id}.sock`;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(own, () => resolve());
    });
    return {
      port: real,
      close: () => {
        if (this.#places.delete(id)) this.#send({ of: 'workers', kind: 'unlisten', id });
      },
    };
  }

  hear(message: ToWorker, socket: Socket | undefined): void {
    switch (message.kind) {
      case 'listening':
        return this.#places.get(message.id)?.port.resolve(message.port);
      case 'not-listening': {
        const { code } = message;
        this.#places.get(message.id)?.port.reject(Object.assign(new Error(message.message), { code }));
        this.#places.delete(message.id);
        return;
      }
      case 'connection': {
        const { number, id } = message;
        const place = this.#places.get(id);
        // The client may be gone already: then there is no socket.
        if (place && socket) adopt(place.server, socket);
        else socket?.destroy();
        this.#send({ of: 'workers', kind: place ? 'taken' : 'refused', number });
      }
    }
  }
}

/** As the server does with a connection that it has accepted by itself: it counts, and `close` waits for it. */
function adopt(server: Server, socket: Socket): void {
  const counted = server as Server & { _connections: number };
  counted._connections += 1;
  Object.assign(socket, { server, _server: server });
  server.emit('connection', socket);
}

// Preloaded into a server that takes a free port (PORT=0) without saying which: writes it to stdout.
import { Server } from 'node:net';

const { listen } = Server.prototype;
Server.prototype.listen = function tell(...args) {
  this.once('listening', () => {
    const address = this.address();
    if (address && typeof address === 'object') process.stdout.write(`port ${address.port}\n`);
  });
  return listen.apply(this, args);
};

import { IsthmusError } from '../errors.js';
import type { Listener } from '../exchange/connection.js';
import { tcp, unixSocket } from './socket.js';
import { stdio } from './stdio.js';

/** A listener for what people write on a command line: `stdio`, `unix:PATH` or `tcp://HOST:PORT`. */
export function listenerFor(address: string): Listener {
  if (address === 'stdio') return stdio();
  if (address.startsWith('unix:')) return unixSocket(address.slice('unix:'.length));
  const match = /^tcp:\/\/(\[[^\]]+\]|[^:/]+):(\d{1,5})$/.exec(address);
  if (match) {
    const host = match[1]!.replace(/^\[|\]$/g, '');
    return tcp({ host, port: Number(match[2]) });
  }
  throw new IsthmusError(
    'INVALID_OPTION',
    `Cannot listen on "${address}": write stdio, unix:/path/to.sock or tcp://127.0.0.1:4000 (port 0 takes a free one)`,
  );
}

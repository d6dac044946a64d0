import { IsthmusError } from '../errors.js';
import type { Connector, Listener } from '../exchange/connection.js';
import { tcp, unixSocket } from './socket.js';
import { stdio } from './stdio.js';

/** A listener for what people write on a command line: `stdio`, `unix:PATH` or `tcp://HOST:PORT`. */
export function listenerFor(address: string): Listener {
  if (address === 'stdio') return stdio();
  const socket = socketAt(address);
  if (socket) return socket;
  throw new IsthmusError(
    'INVALID_OPTION',
    `Cannot listen on "${address}": write stdio, unix:/path/to.sock or tcp://127.0.0.1:4000 (port 0 takes a free one)`,
  );
}

/** A connector for the same: `unix:PATH` or `tcp://HOST:PORT`. A server behind stdio has a command instead. */
export function connectorFor(address: string): Connector {
  const socket = socketAt(address);
  if (socket && !/^tcp:.*:0+$/.test(address)) return socket;
  throw new IsthmusError(
    'INVALID_OPTION',
    `Cannot connect to "${address}": write unix:/path/to.sock or tcp://127.0.0.1:4000`,
  );
}

function socketAt(address: string): (Listener & Connector) | undefined {
  if (address.startsWith('unix:')) return unixSocket(address.slice('unix:'.length));
  const match = /^tcp:\/\/(\[[^\]]+\]|[^:/]+):(\d{1,5})$/.exec(address);
  return match ? tcp({ host: match[1]!.replace(/^\[|\]$/g, ''), port: Number(match[2]) }) : undefined;
}

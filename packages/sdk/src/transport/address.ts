import { IsthmusError } from '../errors.js';
import type { Connector, Listener } from '../exchange/connection.js';
import type { Tap } from '../exchange/tap.js';
import type { HttpListenOptions } from './http-server/http-listener.js';
import { tcp, unixSocket } from './socket.js';
import { stdio } from './stdio.js';

/** A listener for an address on a command line: `stdio`, `unix:PATH`, `tcp://HOST:PORT`, `http://HOST:PORT/PATH`. */
export function listenerFor(address: string, tap?: Tap): Listener {
  if (address === 'stdio') return stdio({ tap });
  if (address.startsWith('http://')) return lazyHttp(httpAddress(address));
  const socket = socketAt(address, tap);
  if (socket) return socket;
  throw new IsthmusError(
    'INVALID_OPTION',
    `Cannot listen on "${address}": write stdio, unix:/path/to.sock, tcp://127.0.0.1:4000 or http://127.0.0.1:8080/mcp (port 0 takes a free port)`,
  );
}

/** A connector for `unix:PATH` or `tcp://HOST:PORT`. A server on stdio is named by its command instead. */
export function connectorFor(address: string, tap?: Tap): Connector {
  const socket = socketAt(address, tap);
  if (socket && !/^tcp:.*:0+$/.test(address)) return socket;
  throw new IsthmusError(
    'INVALID_OPTION',
    `Cannot connect to "${address}": write unix:/path/to.sock or tcp://127.0.0.1:4000`,
  );
}

/** Loads the code for HTTP on first use, so that a server on stdio starts without it. */
function lazyHttp(options: HttpListenOptions): Listener {
  return {
    ownsProcess: false,
    async listen(accept, served) {
      const { httpListener } = await import('./http-server/http-listener.js');
      return httpListener(options).listen(accept, served);
    },
  };
}

export function httpAddress(address: string): { host: string; port: number; path: string } {
  if (!URL.canParse(address)) throw new IsthmusError('INVALID_OPTION', `"${address}" is not a URL`);
  const { hostname, port, pathname } = new URL(address);
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? 80 : Number(port),
    path: pathname === '/' ? '/mcp' : pathname,
  };
}

function socketAt(address: string, tap: Tap | undefined): (Listener & Connector) | undefined {
  if (address.startsWith('unix:')) return unixSocket(address.slice('unix:'.length), { tap });
  const match = /^tcp:\/\/(\[[^\]]+\]|[^:/]+):(\d{1,5})$/.exec(address);
  return match ? tcp({ host: match[1]!.replace(/^\[|\]$/g, ''), port: Number(match[2]), tap }) : undefined;
}

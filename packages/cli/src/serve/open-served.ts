import type { GatewayOptions } from '@isthmus/gateway/internal/gateway.js';
import { planDeparture } from '@isthmus/sdk/internal/async/departure.js';
import { type Owned, ownProcess } from '@isthmus/sdk/internal/server/own-process.js';
import { cannotListen } from './addresses.js';
import type { HttpAccess } from './http-access.js';
import { tellDescriptors } from './operator.js';

/** What every gateway of the command line has, whatever it serves. */
export interface ServedInputs {
  readonly addresses: readonly string[];
  readonly access: HttpAccess;
  readonly graceMs?: number | undefined;
  /** Writes a warning for the person who runs the gateway. */
  readonly warn: (line: string) => void;
}

type AccessOptions = Pick<
  GatewayOptions,
  'addresses' | 'endpoint' | 'sse' | 'healthPaths' | 'operators' | 'tellsStderr' | 'graceMs'
>;

/**
 * Opens a gateway at the addresses of the command line, and ties the process to it. `open` gets the options that do not
 * depend on what is served: the demo, one server, or the servers of files. `onHangup` is for SIGHUP.
 */
export async function openServed<T extends Owned>(
  { addresses, access, graceMs, warn }: ServedInputs,
  open: (options: AccessOptions) => Promise<T>,
  onHangup?: (opened: T) => void,
): Promise<T> {
  const { endpoint, places, isPrivate: tellsStderr } = access;
  const opened = await open({ addresses, endpoint, ...places, tellsStderr, graceMs }).catch(
    (error: unknown) => {
      throw cannotListen(addresses, error);
    },
  );
  tellDescriptors(warn);
  const departure = planDeparture({ isStdio: addresses.includes('stdio'), graceMs });
  ownProcess(opened, departure, onHangup && (() => onHangup(opened)));
  return opened;
}

/** Serves our own demo server. It runs in this process. Returns the real addresses. */
export async function serveDemo(
  inputs: ServedInputs,
  stateKeys: readonly string[] | undefined,
): Promise<readonly string[]> {
  const { createGateway } = await import('@isthmus/gateway/internal/create-gateway.js');
  const { createDemoServer } = await import('../demo/demo-server.js');
  const gateway = await openServed(inputs, (options) =>
    createGateway({
      ...options,
      units: [],
      own: { name: 'demo', service: createDemoServer() },
      host: { ledger: false },
      stateKeys,
      metrics: async () => ({ type: 'text/plain; version=0.0.4', text: '' }),
    }),
  );
  return gateway.addresses;
}

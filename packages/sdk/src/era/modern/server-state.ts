import { randomUUID } from 'node:crypto';
import { IsthmusError } from '../../errors.js';
import type { Service } from '../../exchange/call.js';
import type { JsonObject } from '../../wire/json-rpc.js';
import { META } from '../meta-keys.js';
import type { ServingSettings } from '../serving-settings.js';
import { ParkedCalls } from './parked-calls.js';
import { createStateSeal, type StateSeal } from './sealed-state.js';
import type { ModernServerCall } from './server-call.js';

/** What all modern connections of one server share: parked calls and the key of their states. */
export interface ModernServerState {
  readonly settings: ServingSettings;
  readonly parked: ParkedCalls<ModernServerCall>;
  readonly seal: StateSeal;
  /** Names this server among replicas that share a key. */
  readonly home: string;
  /** The `_meta` of every result of a service, built once. */
  resultMeta(service: Service): JsonObject;
  close(): void;
}

export function createModernServerState(settings: ServingSettings): ModernServerState {
  const parked = new ParkedCalls<ModernServerCall>(settings.clock, settings);
  let known: { readonly info: Service['info']; readonly meta: JsonObject } | undefined;
  return {
    resultMeta({ info }) {
      if (known?.info !== info) known = { info, meta: { [META.serverInfo]: info } };
      return known.meta;
    },
    settings,
    parked,
    seal: createStateSeal(settings.stateKey),
    home: randomUUID(),
    close: () => parked.close(new IsthmusError('CONNECTION_CLOSED', 'the server stopped')),
  };
}

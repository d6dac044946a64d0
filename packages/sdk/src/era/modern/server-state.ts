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
  /** The name of this process in its cluster. Undefined outside of clusters. */
  member(): string | undefined;
  /** The `_meta` of every result of a service, built once. */
  resultMeta(service: Service): OwnMeta;
  close(): void;
}

export interface OwnMeta {
  readonly value: JsonObject;
  /** What is written behind the members of a result without a `_meta` of its own. */
  readonly member: string;
}

export function createModernServerState(
  settings: ServingSettings,
  member: () => string | undefined = () => undefined,
): ModernServerState {
  const parked = new ParkedCalls<ModernServerCall>(settings.clock, settings);
  let home: string | undefined;
  let known: { readonly info: Service['info']; readonly meta: OwnMeta } | undefined;
  return {
    resultMeta({ info }) {
      if (known?.info !== info) known = { info, meta: metaOf(info) };
      return known.meta;
    },
    settings,
    parked,
    seal: createStateSeal(settings.stateKey),
    get home() {
      home ??= randomUUID();
      return home;
    },
    member,
    close: () => parked.close(new IsthmusError('CONNECTION_CLOSED', 'the server stopped')),
  };
}

function metaOf(info: Service['info']): OwnMeta {
  const value = { [META.serverInfo]: info };
  return { value, member: `,"_meta":${JSON.stringify(value)}` };
}

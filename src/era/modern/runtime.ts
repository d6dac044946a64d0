import { IsthmusError } from '../../errors.js';
import type { ServingSettings } from '../serving.js';
import { ParkedCalls } from './parked-calls.js';
import { createStateSeal, type StateSeal } from './sealed-state.js';
import type { ModernServerCall } from './server-call.js';

/** What all modern connections of one server share: sleeping handlers and the key of their states. */
export interface ModernRuntime {
  readonly settings: ServingSettings;
  readonly parked: ParkedCalls<ModernServerCall>;
  readonly seal: StateSeal;
  close(): void;
}

export function createModernRuntime(settings: ServingSettings): ModernRuntime {
  const parked = new ParkedCalls<ModernServerCall>(settings.clock, settings);
  return {
    settings,
    parked,
    seal: createStateSeal(settings.stateKey),
    close: () => parked.close(new IsthmusError('CONNECTION_CLOSED', 'the server stopped')),
  };
}

import type { Clock } from '../async/clock.js';
import type { Change } from '../exchange/call.js';
import { OutputChecks } from './output-checks.js';
import { ResponseCache } from './response-cache.js';

/** What a client keeps of its server's answers, and what makes it forget them. */
export class ClientMemory {
  readonly cache: ResponseCache;
  readonly outputs = new OutputChecks();

  constructor(clock: Clock, principal: string | undefined) {
    this.cache = new ResponseCache(clock, principal);
  }

  readonly onChange = (change: Change): void => {
    this.cache.changed(change);
    if (change.kind === 'tools') this.outputs.forget();
  };

  /** News may have been missed, and it may not even be the same server. */
  readonly onReopened = (): void => {
    this.cache.clear();
    this.outputs.forget();
  };
}

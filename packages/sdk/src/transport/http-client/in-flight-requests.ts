import { IdMap } from '../../exchange/id-map.js';
import type { RequestId } from '../../wire/json-rpc.js';
import type { InFlightRequest } from './in-flight-request.js';

/** The requests that wait for their end. */
export class InFlightRequests {
  readonly #flights = new IdMap<InFlightRequest>();
  #onEmpty: (() => void) | undefined;

  add(flight: InFlightRequest): void {
    this.#flights.set(flight.id, flight);
  }

  of(id: unknown): InFlightRequest | undefined {
    return this.#flights.get(id as RequestId);
  }

  all(): InFlightRequest[] {
    return this.#flights.values();
  }

  /** It has its end; whether that is an answer is for others to say. */
  land(flight: InFlightRequest): void {
    if (this.#flights.get(flight.id) === flight) this.#flights.delete(flight.id);
    flight.land();
    if (this.#flights.size === 0) this.#onEmpty?.();
  }

  /** Settles when none is left. */
  empty(): Promise<void> {
    if (this.#flights.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onEmpty = resolve;
    });
  }
}

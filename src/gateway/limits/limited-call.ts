import type { Call } from '../../exchange/call.js';
import type { InputRequest, InputResponse } from '../../wire/model.js';
import { CallAround } from '../call-around.js';
import type { Place } from './place.js';

/** The same call; while its client is being asked something, it takes up no place. */
export class LimitedCall extends CallAround {
  readonly #place: Place;

  constructor(call: Call, place: Place) {
    super(call);
    this.#place = place;
  }

  override async ask(request: InputRequest, signal?: AbortSignal): Promise<InputResponse> {
    this.#place.stepOut();
    try {
      return await this.whole.ask(request, signal);
    } finally {
      this.#place.comeBack();
    }
  }
}

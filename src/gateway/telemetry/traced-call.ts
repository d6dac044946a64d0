import type { Call } from '../../exchange/call.js';
import { isJsonObject, type JsonObject } from '../../wire/json-rpc.js';
import { CallAround } from '../call-around.js';

/** The same call, as a part of another span. */
export class TracedCall extends CallAround {
  constructor(call: Call, trace: { readonly traceparent: string; readonly tracestate: string | undefined }) {
    const { _meta } = call.params;
    const { traceparent: _parent, tracestate: _state, ...kept } = isJsonObject(_meta) ? _meta : {};
    const own: JsonObject = { ...kept, traceparent: trace.traceparent };
    if (trace.tracestate !== undefined) own['tracestate'] = trace.tracestate;
    super(call, { ...call.params, _meta: own });
  }
}

import { LazyAbort } from '@isthmus/sdk/internal/async/abort.js';
import type { Call, Peer, Service } from '@isthmus/sdk/internal/exchange/call.js';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { CallRecord } from '../../src/telemetry/call-record.js';

export const PEER: Peer = {
  era: 'modern',
  revision: '2026-07-28',
  info: { name: 'test client', version: '1' },
  capabilities: {},
  principal: 'alice',
};

/** A call that nobody made; `abort` calls it off. */
export function callOf(
  method: string,
  params: JsonObject = {},
  more: Partial<Call> = {},
): Call & { abort(): void } {
  const abort = new LazyAbort();
  return {
    id: 7,
    method,
    params,
    peer: PEER,
    get signal() {
      return abort.signal;
    },
    cancellation: abort,
    answers: undefined,
    state: undefined,
    logLevel: undefined,
    wantsProgress: false,
    progress() {},
    log() {},
    notify() {},
    ask: () => Promise.reject(new Error('nobody is there')),
    ...more,
    abort: () => abort.abort(new Error('called off')),
  };
}

/** A service with nothing but what every service has. */
export function serviceOf(handle: Service['handle']): Service {
  return {
    info: { name: 'far', version: '9' },
    instructions: 'be kind',
    discoveryCache: undefined,
    capabilities: () => ({ tools: {} }),
    handle,
    watch: () => () => {},
  };
}

export function recordOf(more: Partial<CallRecord> = {}): CallRecord {
  return {
    server: 'weather',
    side: 'server',
    request: 7,
    method: 'tools/call',
    tool: 'forecast',
    prompt: undefined,
    uri: undefined,
    era: 'modern',
    revision: '2026-07-28',
    transport: undefined,
    principal: undefined,
    client: undefined,
    durationMs: 15,
    outcome: 'ok',
    errorType: undefined,
    code: undefined,
    message: undefined,
    ...more,
  };
}

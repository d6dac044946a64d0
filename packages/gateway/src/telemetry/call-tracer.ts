import type { Call } from '@isthmus/sdk/internal/exchange/call.js';
import { readTraceParent } from '@isthmus/sdk/internal/transport/trace-headers.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Attributes, Context, Span, Tracer, TracerProvider } from '@opentelemetry/api';
import { deriveCall } from '../pipeline/derive.js';
import { type CallRecord, type NetworkTransport, type TelemetrySide, targetOf } from './call-record.js';
import { createRedactor, type Redactor } from './redactor.js';

/** Makes spans of calls while a tracer provider is registered. */
export interface CallTracer {
  /** Whether a provider is registered with `@opentelemetry/api`. */
  readonly isOn: boolean;
  /** Undefined while no provider is registered with `@opentelemetry/api`. */
  start(call: Call, about: CallAddress): CallSpan | undefined;
}

export interface CallAddress {
  readonly server: string;
  readonly side: TelemetrySide;
  readonly transport: NetworkTransport | undefined;
  readonly revision: string | undefined;
}

export interface CallSpan {
  /** Runs the call within the span. Spans that it makes have this span as their parent. */
  run<T>(work: (call: Call) => T): T;
  end(record: CallRecord): void;
}

export interface TracerOptions {
  /** Removes secrets from URIs and error messages. Default: one that knows patterns of secrets. */
  readonly redactor?: Redactor;
  /** Default: imports `@opentelemetry/api`. */
  readonly load?: () => Promise<Api>;
}

type Api = typeof import('@opentelemetry/api');

/** Undefined where `@opentelemetry/api` is not installed: then no provider can be registered. */
export async function createCallTracer(options: TracerOptions = {}): Promise<CallTracer | undefined> {
  const { load = () => import('@opentelemetry/api'), redactor = createRedactor() } = options;
  let api: Api;
  try {
    api = await load();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  }
  const currentTracer = trackTracer(api);
  return {
    get isOn() {
      try {
        return currentTracer() !== undefined;
      } catch {
        // A provider with a bug. A call must not fail because of it.
        return false;
      }
    },
    start(call, about) {
      const tracer = currentTracer();
      return tracer && startSpan(api, tracer, call, about, redactor);
    },
  };
}

/** A provider may be registered and removed at any time. Every call checks this, so the check must be cheap. */
function trackTracer({ trace }: Api): () => Tracer | undefined {
  let seen: unknown;
  let tracer: Tracer | undefined;
  return () => {
    const provider: TracerProvider & Partial<Proxying> = trace.getTracerProvider();
    const real = provider.getDelegate ? provider.getDelegate() : provider;
    if (real === seen) return tracer;
    seen = real;
    tracer = provider.getDelegateTracer ? provider.getDelegateTracer(NAME) : provider.getTracer(NAME);
    return tracer;
  };
}

/** The proxy that `@opentelemetry/api` has before a provider is registered, and in front of it afterwards. */
interface Proxying {
  getDelegate(): unknown;
  /** Undefined where there is no provider. */
  getDelegateTracer(name: string): Tracer | undefined;
}

function startSpan(api: Api, tracer: Tracer, call: Call, about: CallAddress, redactor: Redactor): CallSpan {
  const kind = about.side === 'server' ? api.SpanKind.SERVER : api.SpanKind.CLIENT;
  const parent = parentOf(api, call);
  const { tool, prompt } = targetOf(call);
  const target = tool ?? prompt;
  const name = target === undefined ? call.method : `${call.method} ${target}`;
  const span = tracer.startSpan(name, { kind, attributes: attributesOf(call, about, redactor) }, parent);
  const context = api.trace.setSpan(parent, span);
  const { traceId, spanId, traceFlags, traceState } = span.spanContext();
  const isOwn =
    api.isSpanContextValid(span.spanContext()) && spanId !== api.trace.getSpanContext(parent)?.spanId;
  const flags = traceFlags.toString(16).padStart(2, '0');
  const traceparent = `00-${traceId}-${spanId}-${flags}`;
  const within = isOwn
    ? withTrace(call, { traceparent, tracestate: traceState?.serialize() || undefined })
    : call;
  return {
    run: (work) => api.context.with(context, () => work(within)),
    end: (record) => endSpan(api, span, record, redactor),
  };
}

/** The parent that the call names. If it names none, the active context of this process. */
function parentOf(api: Api, { params }: Call): Context {
  const meta = params['_meta'];
  const trace = isJsonObject(meta) ? readTraceParent(meta['traceparent']) : undefined;
  if (!trace) return api.context.active();
  const state = isJsonObject(meta) ? meta['tracestate'] : undefined;
  return api.trace.setSpanContext(api.context.active(), {
    traceId: trace.traceId,
    spanId: trace.spanId,
    traceFlags: trace.flags,
    isRemote: true,
    ...(typeof state === 'string' && { traceState: api.createTraceState(state) }),
  });
}

/** https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp/ */
function attributesOf(call: Call, about: CallAddress, redactor: Redactor): Attributes {
  const { tool, prompt, uri } = targetOf(call);
  const { server, transport, revision } = about;
  const attributes: Attributes = { 'mcp.method.name': call.method, 'isthmus.server.name': server };
  if (call.id !== undefined) attributes['jsonrpc.request.id'] = String(call.id);
  if (revision !== undefined) attributes['mcp.protocol.version'] = revision;
  if (tool !== undefined) {
    attributes['gen_ai.operation.name'] = 'execute_tool';
    attributes['gen_ai.tool.name'] = tool;
  }
  if (prompt !== undefined) attributes['gen_ai.prompt.name'] = prompt;
  if (uri !== undefined) attributes['mcp.resource.uri'] = redactor.text(uri);
  if (transport !== undefined) attributes['network.transport'] = transport;
  return attributes;
}

function endSpan(api: Api, span: Span, record: CallRecord, redactor: Redactor): void {
  const { outcome, errorType, code, message } = record;
  if (outcome === 'input_required') span.setAttribute('mcp.result.type', outcome);
  if (errorType !== undefined) {
    span.setAttribute('error.type', errorType);
    if (code !== undefined) span.setAttribute('rpc.response.status_code', String(code));
    const said = message === undefined ? {} : { message: redactor.text(message) };
    span.setStatus({ code: api.SpanStatusCode.ERROR, ...said });
  }
  span.end();
}

const NAME = 'isthmus';

/** The same call, with the span as its parent in `_meta`. */
function withTrace(
  call: Call,
  trace: { readonly traceparent: string; readonly tracestate: string | undefined },
): Call {
  const { _meta } = call.params;
  const { traceparent: _parent, tracestate: _state, ...kept } = isJsonObject(_meta) ? _meta : {};
  const own: JsonObject = { ...kept, traceparent: trace.traceparent };
  if (trace.tracestate !== undefined) own['tracestate'] = trace.tracestate;
  return deriveCall(call, { params: { ...call.params, _meta: own } });
}

import { serve } from '@isthmus/sdk';
import { createBridge } from '@isthmus/sdk/bridge';
import { ProtocolError } from '@isthmus/sdk/internal/errors.js';
import type { Call, Service } from '@isthmus/sdk/internal/exchange/call.js';
import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  AlwaysOffSampler,
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  type Sampler,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FarServer } from '../../../sdk/test/support/bridge/far.js';
import type { Era } from '../../../sdk/test/support/bridge/frames.js';
import { NearLink } from '../../../sdk/test/support/bridge/near.js';
import { createCallTracer } from '../../src/telemetry/call-tracer.js';
import { observeService } from '../../src/telemetry/observe-service.js';
import { callOf, serviceOf } from '../support/telemetry.js';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const PARENT = { traceparent: `00-${TRACE_ID}-b7ad6b7169203331-01`, tracestate: 'rojo=1', baggage: 'a=b' };

/** A provider for the time of a test; what it collected. */
function collectSpans(sampler?: Sampler): () => ReadableSpan[] {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(exporter)],
    ...(sampler && { sampler }),
  });
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  onTestFinished(async () => {
    trace.disable();
    context.disable();
    await provider.shutdown();
  });
  return () => exporter.getFinishedSpans();
}

async function traced(handle: Service['handle'], more: object = {}) {
  const tracer = await createCallTracer();
  return observeService(serviceOf(handle), { server: 'weather', onCall() {}, tracer, ...more });
}

function traceparentOf(call: Call): string {
  return (call.params['_meta'] as { traceparent: string }).traceparent;
}

describe('a call, where a provider is registered', () => {
  it('is a span with the names of OpenTelemetry, whose parent is what the call says', async () => {
    const spans = collectSpans();
    const service = await traced(async () => ({ content: [] }), { transport: 'tcp' });
    await service.handle(callOf('tools/call', { name: 'forecast', _meta: PARENT }));
    const [span] = spans();
    expect(spans()).toHaveLength(1);
    expect(span).toMatchObject({
      name: 'tools/call forecast',
      kind: SpanKind.SERVER,
      parentSpanContext: { traceId: TRACE_ID, spanId: 'b7ad6b7169203331', traceFlags: 1, isRemote: true },
      status: { code: SpanStatusCode.UNSET },
      attributes: {
        'mcp.method.name': 'tools/call',
        'mcp.protocol.version': '2026-07-28',
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'forecast',
        'network.transport': 'tcp',
        'isthmus.server.name': 'weather',
      },
    });
    expect(span!.spanContext().traceId).toBe(TRACE_ID);
    expect(span!.instrumentationScope.name).toBe('isthmus');
  });

  it('hands on the span as its own trace context; the rest of _meta and of the call stays', async () => {
    const spans = collectSpans();
    let inner!: Call;
    const service = await traced(async (call) => {
      inner = call;
      return {};
    });
    const asked: unknown[] = [];
    const call = callOf(
      'tools/call',
      { name: 'forecast', arguments: { a: 1 }, _meta: { ...PARENT, 'com.example/x': 1 } },
      {
        wantsProgress: true,
        logLevel: 'info',
        answers: { q: { action: 'decline' } },
        state: 's',
        progress: (update) => void asked.push(update),
        log: (entry) => void asked.push(entry),
        ask: async (request) => {
          asked.push(request);
          return { action: 'accept' };
        },
      },
    );
    await service.handle(call);
    const { spanId } = spans()[0]!.spanContext();
    expect(inner.params).toEqual({
      name: 'forecast',
      arguments: { a: 1 },
      _meta: {
        traceparent: `00-${TRACE_ID}-${spanId}-01`,
        tracestate: 'rojo=1',
        baggage: 'a=b',
        'com.example/x': 1,
      },
    });
    expect(call.params['_meta']).toMatchObject(PARENT);
    const same = [
      'method',
      'peer',
      'signal',
      'cancellation',
      'answers',
      'state',
      'logLevel',
      'wantsProgress',
    ] as const;
    for (const member of same) expect(inner[member], member).toBe(call[member]);
    inner.progress({ progress: 1 });
    inner.log({ level: 'info', data: 'x' });
    expect(await inner.ask({ method: 'roots/list' })).toEqual({ action: 'accept' });
    expect(asked).toEqual([{ progress: 1 }, { level: 'info', data: 'x' }, { method: 'roots/list' }]);
  });

  it('begins a trace where the call names none, or none that makes sense', async () => {
    const spans = collectSpans();
    const seen: string[] = [];
    const service = await traced(async (call) => {
      seen.push(traceparentOf(call));
      return {};
    });
    await service.handle(callOf('tools/list'));
    await service.handle(callOf('tools/list', { _meta: { traceparent: 'x' } }));
    expect(spans().map(({ parentSpanContext }) => parentSpanContext)).toEqual([undefined, undefined]);
    expect(seen).toEqual(
      spans().map((span) => `00-${span.spanContext().traceId}-${span.spanContext().spanId}-01`),
    );
    expect(spans()[0]!.name).toBe('tools/list');
  });

  it('is under way while it is handled, so that what others trace belongs to it', async () => {
    const spans = collectSpans();
    const service = await traced(async () => {
      await Promise.resolve();
      trace.getTracer('other').startSpan('inner').end();
      return {};
    });
    await service.handle(callOf('tools/list'));
    const [inner, outer] = spans();
    expect([inner!.name, outer!.name]).toEqual(['inner', 'tools/list']);
    expect(inner!.parentSpanContext?.spanId).toBe(outer!.spanContext().spanId);
  });

  it.each([
    [
      async () => ({ content: [], isError: true }),
      { 'error.type': 'tool_error' },
      { code: SpanStatusCode.ERROR },
    ],
    [
      async () => {
        throw new ProtocolError(-32602, 'no tool for Bearer abc');
      },
      { 'error.type': '-32602', 'rpc.response.status_code': '-32602' },
      { code: SpanStatusCode.ERROR, message: 'no tool for Bearer [redacted]' },
    ],
    [
      async () => ({ resultType: 'input_required' }),
      { 'mcp.result.type': 'input_required' },
      { code: SpanStatusCode.UNSET },
    ],
  ])('ends with how it ended: case %#', async (handle, attributes, status) => {
    const spans = collectSpans();
    const service = await traced(handle);
    await Promise.resolve(service.handle(callOf('prompts/get', { name: 'greet' }))).catch(() => {});
    expect(spans()[0]!.name).toBe('prompts/get greet');
    expect(spans()[0]!.attributes).toMatchObject({ 'gen_ai.prompt.name': 'greet', ...attributes });
    expect(spans()[0]!.status).toEqual(status);
  });

  it('names a resource in an attribute only, without what is secret in it', async () => {
    const spans = collectSpans();
    const service = await traced(() => ({ contents: [] }));
    service.handle(callOf('resources/read', { uri: 'https://a:b@example.com/x?token=c' }));
    expect(spans()[0]!.name).toBe('resources/read');
    expect(spans()[0]!.attributes['mcp.resource.uri']).toBe(
      'https://[redacted]@example.com/x?token=[redacted]',
    );
  });

  it('has a second span for the server behind, within the first, when both sides are watched', async () => {
    const spans = collectSpans();
    const tracer = await createCallTracer();
    let inner!: Call;
    const far = serviceOf(async (call) => {
      inner = call;
      return {};
    });
    const there = { server: 'weather', side: 'client', transport: 'pipe', onCall() {}, tracer } as const;
    const behind = observeService(far, { ...there, revision: () => '2025-11-25' });
    const service = observeService(behind, { server: 'weather', onCall() {}, tracer });
    await service.handle(callOf('tools/call', { name: 'a', _meta: PARENT }));
    const [client, server] = spans();
    expect([client!.kind, server!.kind]).toEqual([SpanKind.CLIENT, SpanKind.SERVER]);
    expect(client!.parentSpanContext?.spanId).toBe(server!.spanContext().spanId);
    expect(client!.attributes).toMatchObject({
      'mcp.protocol.version': '2025-11-25',
      'network.transport': 'pipe',
    });
    expect(traceparentOf(inner)).toBe(`00-${TRACE_ID}-${client!.spanContext().spanId}-01`);
  });

  it('says so when it was decided not to follow the trace', async () => {
    const spans = collectSpans(new AlwaysOffSampler());
    const seen: string[] = [];
    const service = await traced(async (call) => {
      seen.push(traceparentOf(call));
      return {};
    });
    await service.handle(callOf('tools/list', { _meta: PARENT }));
    expect(spans()).toEqual([]);
    expect(seen).toEqual([expect.stringMatching(new RegExp(`^00-${TRACE_ID}-[0-9a-f]{16}-00$`))]);
  });
});

describe('a call, where no provider is registered', () => {
  it('is handed on as it came', async () => {
    let inner: Call | undefined;
    const service = await traced(async (call) => {
      inner = call;
      return {};
    });
    const call = callOf('tools/call', { name: 'a', _meta: PARENT });
    await service.handle(call);
    expect(inner).toBe(call);
  });

  it('becomes a span as soon as one is', async () => {
    const service = await traced(async () => ({}));
    await service.handle(callOf('tools/list'));
    const spans = collectSpans();
    await service.handle(callOf('tools/list'));
    expect(spans()).toHaveLength(1);
    trace.disable();
    await service.handle(callOf('tools/list'));
    expect(spans()).toHaveLength(1);
  });

  it('has no tracer where @opentelemetry/api is not installed', async () => {
    const missing = Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });
    expect(await createCallTracer({ load: () => Promise.reject(missing) })).toBeUndefined();
    const broken = new Error('a bug');
    await expect(createCallTracer({ load: () => Promise.reject(broken) })).rejects.toBe(broken);
  });
});

describe('a traced call through the bridge', () => {
  const CELLS: readonly (readonly [Era, Era])[] = [
    ['legacy', 'legacy'],
    ['legacy', 'modern'],
    ['modern', 'legacy'],
    ['modern', 'modern'],
  ];

  it.each(CELLS)('of a %s client names its span to a %s server', async (nearEra, farEra) => {
    const spans = collectSpans();
    const far = new FarServer({ era: farEra });
    const bridge = createBridge(far, { cache: false });
    const near = new NearLink();
    const tracer = await createCallTracer();
    const served = await serve(observeService(bridge, { server: 'far', onCall() {}, tracer }), near);
    onTestFinished(async () => {
      await served.close({ graceMs: 0 });
      await bridge.close();
    });
    const client = nearEra === 'legacy' ? await near.legacy() : near.modern();
    client.call(1, 'a', {}, PARENT);
    const call = await far.next();
    call.on.answer(call, { resultType: 'complete', content: [] });
    expect((await client.next()).result.content).toEqual([]);
    const [span] = spans();
    expect(span!.parentSpanContext?.spanId).toBe('b7ad6b7169203331');
    expect(call.params._meta).toMatchObject({
      traceparent: `00-${TRACE_ID}-${span!.spanContext().spanId}-01`,
      tracestate: 'rojo=1',
      baggage: 'a=b',
    });
  });
});

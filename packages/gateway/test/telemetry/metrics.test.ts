import type { HostEvent, HostOccurrence } from '@isthmus/sdk/internal/host/host-event.js';
import { describe, expect, it } from 'vitest';
import { openHost, programmed } from '../../../sdk/test/support/host-lifetime.js';
import { createMetrics, type Metrics } from '../../src/telemetry/metrics.js';
import { recordOf } from '../support/telemetry.js';

/** The samples of one metric; those of buckets only on demand. */
async function samples(metrics: Metrics, name: string, collect?: Parameters<Metrics['render']>[0]) {
  const text = await metrics.render(collect);
  return text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
}

function happen(metrics: Metrics, ...occurrences: HostOccurrence[]): void {
  for (const occurrence of occurrences) {
    metrics.onHostEvent({ ...occurrence, server: 'weather', at: 0 } as HostEvent);
  }
}

const exit = (reason: string, expected = false, phase: 'start' | 'run' = 'run') =>
  ({ kind: 'exit', generation: 1, pid: 1, phase, expected, reason }) as const;

describe('the durations of calls', () => {
  const NAME = 'mcp_server_operation_duration_seconds';

  it('have the labels that OpenTelemetry names, and the server', async () => {
    const metrics = createMetrics({ process: false });
    metrics.onCall(recordOf({ transport: 'tcp' }));
    metrics.onCall(recordOf({ method: 'tools/list', tool: undefined, durationMs: 1500 }));
    expect(await samples(metrics, `${NAME}_sum`)).toEqual([
      `${NAME}_sum{server="weather",mcp_method_name="tools/call",gen_ai_tool_name="forecast",mcp_protocol_version="2026-07-28",network_transport="tcp"} 0.015`,
      `${NAME}_sum{server="weather",mcp_method_name="tools/list",mcp_protocol_version="2026-07-28"} 1.5`,
    ]);
    const text = await metrics.render();
    expect(text).toContain(`# TYPE ${NAME} histogram`);
    expect(text).toMatch(/_bucket\{le="0\.01",.*forecast.*\} 0\n.*_bucket\{le="0\.02",.*forecast.*\} 1\n/);
    expect(metrics.contentType).toBe('text/plain; version=0.0.4; charset=utf-8');
  });

  it.each([
    ['tool_error', { outcome: 'tool_error', errorType: 'tool_error' }],
    ['-32602', { outcome: 'error', errorType: '-32602', code: -32602 }],
    ['TIMED_OUT', { outcome: 'error', errorType: 'TIMED_OUT', code: -32603 }],
    ['cancelled', { outcome: 'cancelled', errorType: 'cancelled' }],
  ] as const)('say what went wrong: %s', async (errorType, ending) => {
    const metrics = createMetrics({ process: false });
    metrics.onCall(recordOf(ending));
    const [line] = await samples(metrics, `${NAME}_count`);
    expect(line).toContain(`error_type="${errorType}"`);
  });

  it.each([
    ['server', { server: 'maps' }],
    ['method', { method: 'prompts/get' }],
    ['tool', { tool: 'alerts' }],
    ['revision', { revision: '2025-11-25' }],
    ['transport', { transport: 'unix' }],
    ['error', { outcome: 'tool_error', errorType: 'tool_error' }],
  ] as const)('are counted apart from those of the call before when the %s differs', async (_, different) => {
    const metrics = createMetrics({ process: false });
    for (const changes of [{}, {}, different, {}]) metrics.onCall(recordOf(changes));
    const counts = (await samples(metrics, `${NAME}_count`)).map((line) => line.split('} ')[1]);
    expect(counts).toEqual(['3', '1']);
  });

  it('of the far side are a metric of their own', async () => {
    const metrics = createMetrics({ process: false });
    metrics.onCall(recordOf({ side: 'client', revision: '2025-11-25', transport: 'pipe' }));
    expect(await samples(metrics, `${NAME}_count`)).toEqual([]);
    expect(await samples(metrics, 'mcp_client_operation_duration_seconds_count')).toEqual([
      'mcp_client_operation_duration_seconds_count{server="weather",mcp_method_name="tools/call",gen_ai_tool_name="forecast",mcp_protocol_version="2025-11-25",network_transport="pipe"} 1',
    ]);
  });

  it('know at most 200 tools of a server; the others are one', async () => {
    const metrics = createMetrics({ process: false });
    for (let n = 0; n < 1000; n += 1) metrics.onCall(recordOf({ tool: `t${n}` }));
    metrics.onCall(recordOf({ server: 'files', tool: 't999' }));
    const lines = await samples(metrics, `${NAME}_count`);
    expect(lines).toHaveLength(202);
    expect(lines.filter((line) => line.includes('"other"'))).toEqual([
      expect.stringMatching(/server="weather".*gen_ai_tool_name="other".* 800$/),
    ]);
  });

  it('are not filled up by tools that somebody made up', async () => {
    const metrics = createMetrics({ process: false });
    const failed = { outcome: 'error', errorType: '-32602' } as const;
    for (let n = 0; n < 1000; n += 1) metrics.onCall(recordOf({ tool: `made-up-${n}`, ...failed }));
    for (let n = 0; n < 150; n += 1) metrics.onCall(recordOf({ tool: `real-${n}` }));
    const lines = await samples(metrics, `${NAME}_count`);
    const count = (part: string) => lines.filter((line) => line.includes(part)).length;
    expect([count('"made-up-'), count('"real-'), count('"other"')]).toEqual([20, 150, 1]);
  });

  it('have few labels whatever methods, codes and revisions there are', async () => {
    const metrics = createMetrics({ process: false });
    for (let n = 0; n < 300; n += 1) {
      metrics.onCall(recordOf({ method: `x/${n}`, tool: undefined }));
      metrics.onCall(recordOf({ errorType: String(n) }));
      metrics.onCall(recordOf({ revision: `r${n}` }));
      metrics.onCall(recordOf({ tool: 'x'.repeat(200 + n) }));
    }
    expect((await samples(metrics, `${NAME}_count`)).length).toBeLessThan(100);
  });
});

describe('the lives of processes', () => {
  it('are counted by why they were started', async () => {
    const metrics = createMetrics({ process: false });
    happen(
      metrics,
      { kind: 'start', generation: 1, why: 'use' },
      { kind: 'start', generation: 2, why: 'crash' },
      { kind: 'start', generation: 3, why: 'crash' },
      { kind: 'start', generation: 4, why: 'restart' },
    );
    expect(await samples(metrics, 'isthmus_server_starts_total')).toEqual([
      'isthmus_server_starts_total{server="weather",why="use"} 1',
      'isthmus_server_starts_total{server="weather",why="crash"} 2',
      'isthmus_server_starts_total{server="weather",why="restart"} 1',
    ]);
    expect(await samples(metrics, 'isthmus_server_restarts_total')).toEqual([
      'isthmus_server_restarts_total{server="weather",why="crash"} 2',
      'isthmus_server_restarts_total{server="weather",why="restart"} 1',
    ]);
  });

  it.each([
    ['told', exit('the host ended it', true)],
    [
      'exit_error',
      exit('weather stopped with code 1 after 212 ms; last stderr: "it was ended by SIGKILL after 1 s"'),
    ],
    ['exit_zero', exit('weather stopped with code 0 after 3 s')],
    ['signal', exit('weather was ended by SIGKILL after 12 min')],
    ['cannot_start', exit('weather could not be started: command not found: x (ENOENT)', false, 'start')],
    ['other', exit('it did not answer within 60000 ms', false, 'start')],
  ] as const)('end for a reason: %s', async (reason, event) => {
    const metrics = createMetrics({ process: false });
    happen(metrics, event);
    expect(await samples(metrics, 'isthmus_server_exits_total')).toEqual([
      `isthmus_server_exits_total{server="weather",reason="${reason}",phase="${event.phase}"} 1`,
    ]);
  });

  it('take time to begin', async () => {
    const metrics = createMetrics({ process: false });
    happen(metrics, { kind: 'ready', generation: 1, pid: 1, era: 'modern', ms: 750 });
    expect(await samples(metrics, 'isthmus_server_spawn_seconds_sum')).toEqual([
      'isthmus_server_spawn_seconds_sum{server="weather"} 0.75',
    ]);
  });

  it('of a real host are told as they are at the moment of asking', async () => {
    const metrics = createMetrics({ process: false });
    const server = programmed();
    const restart = { attempts: 0 };
    const { host, seen } = openHost({ servers: { a: server.definition({ restart }), b: { command: 'x' } } });
    host.watch(metrics.onHostEvent);
    const gauge = async (name: string) => {
      const lines = await samples(metrics, `isthmus_server_${name}`, () => host.status());
      return lines.map((line) => line.replace(/^[^{]*\{server="(.*)"\} /, '$1 '));
    };
    expect(await gauge('processes')).toEqual(['a 0', 'b 0']);
    await host.start('a');
    await seen.nth('receipt');
    expect(await gauge('processes')).toEqual(['a 1', 'b 0']);
    expect(await gauge('ready')).toEqual(['a 1', 'b 0']);
    expect(await gauge('queue_depth')).toEqual(['a 0', 'b 0']);
    expect(await gauge('crash_loops')).toEqual(['a 0', 'b 0']);
    if (process.platform === 'linux') {
      const [rss] = await gauge('rss_bytes');
      expect(Number(rss!.slice(2))).toBeGreaterThan(10_000_000);
    }
    process.kill(server.starts()[0]!, 'SIGKILL');
    await seen.nth('crash-loop');
    expect(await gauge('processes')).toEqual(['a 0', 'b 0']);
    expect(await gauge('ready')).toEqual(['a 0', 'b 0']);
    expect(await gauge('crash_loops')).toEqual(['a 1', 'b 0']);
    expect(await gauge('rss_bytes')).toEqual([]);
    expect(await samples(metrics, 'isthmus_server_exits_total')).toEqual([
      'isthmus_server_exits_total{server="a",reason="signal",phase="run"} 1',
    ]);
  });

  it('are left out when nobody can be asked, and the rest is told', async () => {
    const metrics = createMetrics({ process: false });
    const status = { name: 'a', ready: true, queued: 1, parked: 0, maxParked: 1000, processes: [] };
    const servers = { a: status } as never;
    expect(
      await samples(metrics, 'isthmus_server_ready', async () => ({
        servers,
        processes: 0,
        maxProcesses: 1,
      })),
    ).toEqual(['isthmus_server_ready{server="a"} 1']);
    happen(metrics, { kind: 'start', generation: 1, why: 'use' });
    const broken = () => Promise.reject(new Error('closed'));
    expect(await samples(metrics, 'isthmus_server_ready', broken)).toEqual([]);
    expect(await samples(metrics, 'isthmus_server_starts_total', broken)).toHaveLength(1);
  });
});

describe('the rest', () => {
  it('calls in flight go up and down, and those of the far side are not counted twice', async () => {
    const metrics = createMetrics({ process: false });
    for (const side of ['server', 'client', 'server'] as const) metrics.onBegin({ server: 'weather', side });
    metrics.onCall(recordOf());
    metrics.onCall(recordOf({ side: 'client' }));
    expect(await samples(metrics, 'isthmus_calls_in_flight')).toEqual([
      'isthmus_calls_in_flight{server="weather"} 1',
    ]);
  });

  it('refusals are counted by their limit', async () => {
    const metrics = createMetrics({ process: false });
    metrics.onRefused({ server: 'weather', limit: 'rate' });
    happen(
      metrics,
      { kind: 'queue', queued: 9, refused: true },
      { kind: 'queue', queued: 9, refused: false },
    );
    expect(await samples(metrics, 'isthmus_refused_total')).toEqual([
      'isthmus_refused_total{server="weather",limit="rate"} 1',
      'isthmus_refused_total{server="weather",limit="processQueue"} 1',
    ]);
  });

  it('sessions are measured by their revision', async () => {
    const metrics = createMetrics({ process: false });
    metrics.onSession({ server: 'weather', revision: '2025-11-25', transport: 'tcp', durationMs: 90_000 });
    expect(await samples(metrics, 'mcp_server_session_duration_seconds_sum')).toEqual([
      'mcp_server_session_duration_seconds_sum{server="weather",mcp_protocol_version="2025-11-25",network_transport="tcp"} 90',
    ]);
  });

  it('two in one process do not get in the way of each other, and each knows the process', async () => {
    const [one, two] = [createMetrics(), createMetrics()];
    one.onRefused({ server: 'weather', limit: 'rate' });
    expect(await samples(two, 'isthmus_refused_total')).toEqual([]);
    for (const metrics of [one, two]) {
      expect(await samples(metrics, 'process_cpu_user_seconds_total')).toHaveLength(1);
    }
  });
});

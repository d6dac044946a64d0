import { Counter, Histogram, Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { mergeMetrics } from '../../src/telemetry/merge-metrics.js';

const CALLS = '# HELP calls_total Calls.\n# TYPE calls_total counter';

it('the samples of a metric stand together, after one HELP and one TYPE, each with its replica', () => {
  const a = `${CALLS}\ncalls_total{server="x"} 1\n\n# HELP up Up.\n# TYPE up gauge\nup 1\n`;
  const b = `${CALLS}\ncalls_total{server="x"} 2\ncalls_total{server="y"} 3\n\n# HELP up Up.\n# TYPE up gauge\nup 0\n`;
  expect(
    mergeMetrics([
      { replica: 'aa', text: a },
      { replica: 'bb', text: b },
    ]),
  ).toBe(`# HELP calls_total Calls.
# TYPE calls_total counter
calls_total{replica="aa",server="x"} 1
calls_total{replica="bb",server="x"} 2
calls_total{replica="bb",server="y"} 3

# HELP up Up.
# TYPE up gauge
up{replica="aa"} 1
up{replica="bb"} 0
`);
});

it.each([
  ['calls_total 5', 'calls_total{replica="aa"} 5'],
  ['calls_total 5 1700000000000', 'calls_total{replica="aa"} 5 1700000000000'],
  ['calls_total\t5', 'calls_total{replica="aa"} 5'],
  ['calls_total{} 5', 'calls_total{replica="aa"} 5'],
  ['calls_total {tool="t"} +Inf', 'calls_total{replica="aa",tool="t"} +Inf'],
  ['calls_total{tool="a}b{c"} NaN', 'calls_total{replica="aa",tool="a}b{c"} NaN'],
  ['calls_total{tool="say \\"# TYPE x\\", {"} 5', 'calls_total{replica="aa",tool="say \\"# TYPE x\\", {"} 5'],
  ['calls_total{tool="two\\nlines",} 5', 'calls_total{replica="aa",tool="two\\nlines",} 5'],
])('the sample %s becomes %s', (sample, expected) => {
  expect(mergeMetrics([{ replica: 'aa', text: `${CALLS}\n${sample}\n` }])).toBe(`${CALLS}\n${expected}\n`);
});

it('the name of a replica is escaped', () => {
  expect(mergeMetrics([{ replica: 'a"b\\c\nd', text: 'up 1' }])).toBe('up{replica="a\\"b\\\\c\\nd"} 1\n');
});

it('the parts of a histogram stay with it, a metric with a longer name does not, and comments are left out', () => {
  const text = `# TYPE wait histogram
wait_bucket{le="1"} 1
wait_bucket{le="+Inf"} 1
wait_sum 0.5
wait_count 1
# a comment
wait_longest 7
`;
  expect(
    mergeMetrics([
      { replica: 'a', text },
      { replica: 'b', text: '# TYPE wait histogram\nwait_count 2\nwait_longest 8' },
    ]),
  ).toBe(`# TYPE wait histogram
wait_bucket{replica="a",le="1"} 1
wait_bucket{replica="a",le="+Inf"} 1
wait_sum{replica="a"} 0.5
wait_count{replica="a"} 1
wait_count{replica="b"} 2

wait_longest{replica="a"} 7
wait_longest{replica="b"} 8
`);
});

it('what prom-client writes becomes what it writes with a default label, but for the place of the label', async () => {
  const write = async (labels: object) => {
    const registry = new Registry();
    registry.setDefaultLabels(labels);
    const registers = [registry];
    new Counter({ name: 'n_total', help: 'With a \\ and\nlines', labelNames: ['tool'], registers }).inc(
      { tool: 'a "b" {c}\n\\' },
      3,
    );
    new Histogram({ name: 'h_seconds', help: 'H.', buckets: [1, 2], registers }).observe(1.5);
    return registry.metrics();
  };
  const inOrder = (text: string) => text.replace(/^(\w+)\{(.+),(replica="aa")\}/gm, '$1{$3,$2}').trimEnd();
  const merged = mergeMetrics([{ replica: 'aa', text: await write({}) }]);
  expect(inOrder(merged)).toBe(inOrder(await write({ replica: 'aa' })));
});

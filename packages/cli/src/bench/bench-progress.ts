import type { BenchState } from '@isthmus/check/internal/bench/run-bench.js';
import type { ProgressLine } from '../terminal/progress-line.js';
import { count, duration } from './numbers.js';

/** Draws how far it is, a few times a second; seldom enough not to be measured along. */
export function followBench(line: ProgressLine, sides: number) {
  let state: BenchState | undefined;
  let began = 0;
  const draw = () => {
    if (!state) return;
    const { phase, doneMs, totalMs, durationMs, tally } = state;
    const ranMs = Math.min(durationMs, performance.now() - began);
    const name = sides > 1 ? `${letter(state.index)}: ` : '';
    if (phase === 'warm-up')
      line.update({ progress: 0, total: totalMs / 1000, message: `s, ${name}warming up` });
    else {
      line.update({
        progress: Math.round((doneMs + ranMs) / 100) / 10,
        total: totalMs / 1000,
        message: `s, ${name}${describe(state, ranMs + tally.elapsedMs)}`,
      });
    }
  };
  const timer = setInterval(draw, DRAW_MS);
  return {
    onTurn(next: BenchState) {
      state = next;
      began = performance.now();
      draw();
    },
    stop() {
      clearInterval(timer);
      line.hide();
    },
  };
}

const DRAW_MS = 250;

export function letter(index: number): string {
  return String.fromCharCode('A'.charCodeAt(0) + index);
}

function describe({ tally }: BenchState, ms: number): string {
  const { answered, failed, latency } = tally;
  const rate = ms > 0 ? `${count((answered * 1000) / ms)}/s` : '';
  const tail = latency.count > 0 ? `, p99 ${duration(latency.percentile(99))}` : '';
  return `${rate}${tail}${failed > 0 ? `, ${count(failed)} failed` : ''}`;
}

import type { Report } from '../../../src/model.js';
import { aFinding, aReport } from './sample-report.js';

/** What a server might send to harm whoever reads about it. */
export const HOSTILE = [
  '</pre></details><script>globalThis.harmed = true</script>',
  '<img src=x onerror="globalThis.harmed = true">',
  `" onmouseover="globalThis.harmed = true" x='`,
  ']]><failure/>&amp;&nbsp;',
  '\u202Eeverything is fine\u202C\u200B\u2066',
  '\u0000\u0001\u0007\u001b[31m\u001b]0;title\u0007\u007f\u009b31m\ufffe\uffff\ud800',
  'line\r\nend\rand\ttab',
] as const;

/** Hostile in every text that a server, or the command line, has a say in. */
export function hostileReport(): Report {
  const all = HOSTILE.join(' ');
  return aReport({
    target: { label: `node ${all}`, transport: 'command' },
    eras: [
      {
        era: 'modern',
        revision: all,
        server: { name: all, version: all },
        capabilities: [all],
        tools: 1,
        resources: 0,
        prompts: 0,
      },
    ],
    findings: (['fail', 'warn', 'error', 'skip', 'pass'] as const).map((outcome) =>
      aFinding({
        outcome,
        era: 'modern',
        id: `hostile/${outcome}`,
        title: `Hostile ${all}`,
        reason: all,
        seen: all,
        expected: all,
        hint: all,
        input: all,
        wire: [
          ...HOSTILE.map((text, atMs) => ({ from: 'server' as const, atMs, text })),
          { from: 'server' as const, atMs: 9, text: '<b>x'.repeat(250_000) },
        ],
      }),
    ),
    stale: [all],
    version: all,
  });
}

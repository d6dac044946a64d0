import type { Entry } from '../../../src/client/model.js';
import { type Breaking, ending, fails, hangs, looksFine, saying, without } from '../support/break.js';
import type { Mutant } from '../support/mutant.js';

/** A signal to the first server, so long after its input was closed. */
const signalled =
  (afterMs: number): Breaking =>
  (transcript) => {
    const eof = transcript.entries.find(({ kind }) => kind === 'eof')!;
    const signal: Entry = { kind: 'signal', at: eof.at + afterMs, life: eof.life, signal: 'SIGTERM' };
    return { ...transcript, entries: [...transcript.entries, signal] };
  };

export const ROBUSTNESS: readonly Mutant[] = [
  ...[
    'noise',
    'crlf',
    'split',
    'packed',
    'huge',
    'unknown-notifications',
    'unknown-id',
    'duplicate',
    'wrong-id-type',
    'out-of-order',
    'stderr-flood',
    'batch-answer',
    'sse-answer',
    'sse-odd',
    'sse-two-lines',
  ].map((scenario) => ({
    check: `robustness/${scenario}`,
    vice: `is thrown off by ${scenario}`,
    breaking: fails,
  })),
  ...['crash', 'call-nonsense'].map((scenario) => ({
    check: `robustness/${scenario}`,
    vice: `hangs at ${scenario}`,
    breaking: hangs,
  })),
  // Where it is a MUST to end, an expired limit decides nothing; this check says that it hangs.
  ...['stream-cut', 'stream-ended', 'call-error'].map((scenario) => ({
    check: 'robustness/ends',
    vice: `hangs at ${scenario}`,
    scenario,
    breaking: hangs,
  })),
  ...['call-error', 'call-nonsense', 'crash', 'stream-cut', 'stream-ended'].map((scenario) => ({
    check: `robustness/${scenario}`,
    vice: `does not notice ${scenario}`,
    breaking: looksFine,
  })),
  { check: 'robustness/output-schema', vice: 'believes what it gets', breaking: looksFine },
  { check: 'robustness/restarts', vice: 'never starts a server again', breaking: fails },
  {
    check: 'robustness/listens-again',
    vice: 'forgets what it listened for',
    breaking: (transcript) => {
      let listens = 0;
      return saying((message) =>
        message['method'] === 'subscriptions/listen' && listens++ > 0 ? null : undefined,
      )(transcript);
    },
  },
  {
    check: 'robustness/retry-new-id',
    vice: 'repeats a call as it was',
    over: 'http',
    first: repeating('another'),
    breaking: repeating(undefined),
  },
  {
    check: 'shutdown/closes-input',
    vice: 'sends SIGTERM first',
    scenario: 'dual',
    over: 'stdio',
    breaking: signalled(-5),
  },
  { check: 'shutdown/waits', vice: 'sends SIGTERM right away', breaking: signalled(20) },
  { check: 'shutdown/waits', vice: 'sends SIGTERM with the end of the input', breaking: signalled(-1) },
  {
    check: 'shutdown/stays-for-it',
    vice: 'is gone before its server',
    breaking: (transcript) => {
      // A process, not one of ours.
      const entries = transcript.entries.map((entry) => ({ ...entry, life: 4711 }));
      return { ...transcript, entries, end: { ...transcript.end, at: transcript.end.at - 400 } };
    },
  },
  {
    check: 'shutdown/nothing-left',
    vice: 'leaves its server behind',
    scenario: 'dual',
    over: 'stdio',
    breaking: ending({ left: 1 }),
  },
  { check: 'shutdown/ends', vice: 'cannot leave', breaking: hangs },
  {
    check: 'shutdown/one-at-a-time',
    vice: 'probes a sibling',
    scenario: 'dual',
    over: 'stdio',
    breaking: (transcript) => ({
      ...transcript,
      entries: transcript.entries.map((entry) =>
        entry.kind === 'started' ? { ...entry, beside: 1 } : entry,
      ),
    }),
  },
  {
    check: 'shutdown/closes-input',
    vice: 'never closes the input',
    scenario: 'dual',
    over: 'stdio',
    breaking: (transcript) => without(({ kind }) => kind === 'eof')(signalled(0)(transcript)),
  },
];

/** The call once more, with that id or its own. */
function repeating(id: string | undefined): Breaking {
  return (transcript) => {
    const call = transcript.entries.find((entry) => 'text' in entry && entry.text.includes('"tools/call"'))!;
    const message = JSON.parse('text' in call ? call.text : '') as Record<string, unknown>;
    const text = JSON.stringify({ ...message, ...(id !== undefined && { id }) });
    return { ...transcript, entries: [...transcript.entries, { ...call, text } as Entry] };
  };
}

import type { Entry } from '../../../src/client/model.js';
import {
  type Breaking,
  ending,
  fails,
  hangs,
  looksFine,
  saying,
  without,
} from '../../support/client/break.js';
import type { Mutant } from '../../support/client/mutant.js';

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
    fault: `is thrown off by ${scenario}`,
    breaking: fails,
  })),
  ...['crash', 'call-nonsense'].map((scenario) => ({
    check: `robustness/${scenario}`,
    fault: `hangs at ${scenario}`,
    breaking: hangs,
  })),
  // Where it is a MUST to end, an expired limit decides nothing; this check says that it hangs.
  ...['stream-cut', 'stream-ended', 'call-error'].map((scenario) => ({
    check: 'robustness/ends',
    fault: `hangs at ${scenario}`,
    scenario,
    breaking: hangs,
  })),
  ...['call-error', 'call-nonsense', 'crash', 'stream-cut', 'stream-ended'].map((scenario) => ({
    check: `robustness/${scenario}`,
    fault: `does not notice ${scenario}`,
    breaking: looksFine,
  })),
  { check: 'robustness/output-schema', fault: 'believes what it gets', breaking: looksFine },
  { check: 'robustness/restarts', fault: 'never starts a server again', breaking: fails },
  {
    check: 'robustness/listens-again',
    fault: 'forgets what it listened for',
    breaking: (transcript) => {
      let listens = 0;
      return saying((message) =>
        message['method'] === 'subscriptions/listen' && listens++ > 0 ? null : undefined,
      )(transcript);
    },
  },
  {
    check: 'robustness/retry-new-id',
    fault: 'repeats a call as it was',
    over: 'http',
    first: repeating('another'),
    breaking: repeating(undefined),
  },
  {
    check: 'shutdown/closes-input',
    fault: 'sends SIGTERM first',
    scenario: 'dual',
    over: 'stdio',
    breaking: signalled(-5),
  },
  { check: 'shutdown/waits', fault: 'sends SIGTERM right away', breaking: signalled(20) },
  { check: 'shutdown/waits', fault: 'sends SIGTERM with the end of the input', breaking: signalled(-1) },
  {
    check: 'shutdown/stays-for-it',
    fault: 'is gone before its server',
    breaking: (transcript) => {
      // A process, not one of ours.
      const entries = transcript.entries.map((entry) => ({ ...entry, life: 4711 }));
      return { ...transcript, entries, end: { ...transcript.end, at: transcript.end.at - 400 } };
    },
  },
  {
    check: 'shutdown/nothing-left',
    fault: 'leaves its server behind',
    scenario: 'dual',
    over: 'stdio',
    breaking: ending({ left: 1 }),
  },
  { check: 'shutdown/ends', fault: 'cannot leave', breaking: hangs },
  {
    check: 'shutdown/one-at-a-time',
    fault: 'probes a sibling',
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
    fault: 'never closes the input',
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

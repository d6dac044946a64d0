import type { Level } from '../../model.js';
import type { ClientSuite, Over } from '../model.js';
import type { Said, View } from '../view.js';

/** What one check found in one run. `at`: the entry that shows it. */
export type Opinion =
  | { readonly kind: 'pass'; readonly seen: string }
  | {
      readonly kind: 'fail';
      readonly seen: string;
      readonly expected: string;
      readonly at?: number | undefined;
    }
  | { readonly kind: 'skip'; readonly seen: string }
  /** The time limit of the run expired first. A client with a longer limit might still do it. */
  | {
      readonly kind: 'undecided';
      readonly seen: string;
      readonly expected: string;
      readonly at?: number | undefined;
    };

/** What all runs of a client show about it. */
export interface ClientFacts {
  readonly modern: boolean;
  readonly legacy: boolean;
  /** It called a tool in at least one run. */
  readonly calls: boolean;
  /** At least one run ended by itself. */
  readonly ends: boolean;
  /** It opened a page in a browser in at least one run. */
  readonly browses: boolean;
}

export interface ClientCheck {
  /** Stable and unique. */
  readonly id: string;
  readonly suite: ClientSuite;
  /** What a correct client does, as a sentence. */
  readonly title: string;
  readonly level: Level;
  readonly rules: readonly string[];
  readonly reason?: string;
  readonly hint: string;
  /** The scenarios whose runs it looks at. */
  readonly on: readonly string[] | 'all';
  readonly over?: readonly Over[];
  readonly judge: (view: View, facts: ClientFacts) => Opinion;
}

export function pass(seen: string): Opinion {
  return { kind: 'pass', seen };
}

export function fail(seen: string, expected: string, about?: Said | { readonly index: number }): Opinion {
  return { kind: 'fail', seen, expected, at: about?.index };
}

export function skip(seen: string): Opinion {
  return { kind: 'skip', seen };
}

/** Something did not come. It may still come while the client runs, so only an ended run fails. */
export function absent(
  view: View,
  seen: string,
  expected: string,
  about?: Said | { readonly index: number },
): Opinion {
  if (view.ended) return fail(seen, expected, about);
  return { kind: 'undecided', seen, expected, at: about?.index };
}

/** Judges each item in the same way, and shows the first one with a problem. */
export function every<T extends { readonly index: number }>(
  items: readonly T[],
  about: {
    readonly none: string;
    readonly problem: (item: T) => string | undefined;
    readonly expected: string;
    readonly seen: (count: number) => string;
  },
): Opinion {
  if (items.length === 0) return skip(about.none);
  for (const item of items) {
    const problem = about.problem(item);
    if (problem !== undefined) return fail(problem, about.expected, item);
  }
  return pass(about.seen(items.length));
}

/** How the run ended, for the end of a sentence. */
export function outcome({ transcript: { end } }: View): string {
  if (end.error !== undefined) return end.error;
  if (end.late) return `had not ended after ${end.ms} ms`;
  // The stack and the properties of an exception follow its message.
  const line = end.stderr
    .split('\n')
    .findLast((each) => /^[^\s}\])]/.test(each))
    ?.slice(0, 200);
  const words = line ? `; last line on stderr: ${JSON.stringify(line)}` : '';
  return end.code === null ? `was ended by a signal${words}` : `exited with ${end.code}${words}`;
}

/** Why the server serves no era of the client; undefined when it does. */
function unserved({ scenario }: View, facts: ClientFacts): string | undefined {
  if (scenario.serves.some((era) => facts[era])) return undefined;
  const speaks = facts.modern ? 'modern' : facts.legacy ? 'legacy' : 'no';
  return `the client speaks the ${speaks} era only, and this server does not`;
}

/** The client calls the tool, gets the answer, and exits with 0. */
export function works(view: View, facts: ClientFacts): Opinion {
  const why = unserved(view, facts);
  if (why !== undefined) return skip(why);
  const calls = view.named('tools/call');
  const answered = calls.find((call) => view.answerTo(call)?.message['result'] !== undefined);
  if (!answered) {
    // A client that only lists tools is correct.
    if (!facts.calls && view.succeeded && calls.length === 0) return skip(CALLS_NOTHING);
    const last = view.said.at(-1);
    const sent = last ? `its last message was ${last.method || 'an answer'}` : 'it sent nothing';
    return absent(
      view,
      `The client did not call the tool: ${sent}, and it ${outcome(view)}`,
      'The client connects, lists the tools, calls one, and exits with 0',
      last,
    );
  }
  if (view.succeeded) return pass(`It called the tool in the ${answered.era} era and exited with 0`);
  return absent(
    view,
    `The tool was called and answered, and the client ${outcome(view)}`,
    'A client whose call was answered exits with 0',
    answered,
  );
}

export const CALLS_NOTHING = 'the client does not call tools';

/** Like `works`. For a client that calls no tool, any answered request is enough. */
export function connects(view: View, facts: ClientFacts): Opinion {
  const opinion = works(view, facts);
  if (opinion.kind !== 'skip' || opinion.seen !== CALLS_NOTHING) return opinion;
  const answered = view.requests.findLast((each) => view.answerTo(each)?.message['result'] !== undefined);
  return answered
    ? pass(`Its ${answered.method} was answered in the ${answered.era} era and it exited with 0`)
    : fail(
        'The client exited with 0, but none of its requests was answered',
        'An answered request',
        view.said.at(-1),
      );
}

/** The client reports a failure, and does not hang. */
export function givesUp(view: View): Opinion {
  if (!view.ended) {
    return absent(
      view,
      `The client ${outcome(view)}`,
      'The client ends by itself and reports a failure',
      view.said.at(-1),
    );
  }
  if (view.succeeded) {
    return fail(
      'The client exited with 0, as if it had worked',
      'An exit code other than 0',
      view.said.at(-1),
    );
  }
  return pass(`It ${outcome(view)}`);
}

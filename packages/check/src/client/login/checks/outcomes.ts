import {
  absent,
  type ClientCheck,
  type ClientFacts,
  fail,
  type Opinion,
  outcome,
  pass,
  skip,
} from '../../checks/check.js';
import type { View } from '../../view.js';
import { loginIn, NO_LOGIN, type SeenLoginRequest, unbound } from '../login-view.js';

export type LoginCheck = Omit<ClientCheck, 'suite' | 'over'> & {
  /** The revision that the rule began with, if older clients are not bound by it. */
  readonly since?: '2025-11-25' | '2026-07-28';
};

/** A check of the suite `login`. */
export function loginCheck({ since, judge, ...check }: LoginCheck): ClientCheck {
  return {
    ...check,
    suite: 'login',
    over: ['http'],
    judge: (view, facts) => (since && unbound(view, facts, since)) || judge(view, facts),
  };
}

/** The client ends the login after it has seen what is wrong: it sends nothing of the given kinds afterwards. */
export function stopsBefore(
  kinds: readonly SeenLoginRequest['kind'][],
  about: {
    /** What has to be seen first; otherwise nothing can be said. */
    readonly after: SeenLoginRequest['kind'];
    readonly seen: string;
    readonly expected: string;
    readonly matters?: (request: SeenLoginRequest) => boolean;
  },
): (view: View) => Opinion {
  return (view) => {
    const login = loginIn(view);
    const [first] = login.of(about.after);
    if (!first) return skip(NO_LOGIN);
    const next = login.requests.find(
      (each) => each.index > first.index && kinds.includes(each.kind) && (about.matters?.(each) ?? true),
    );
    if (next) return fail(`${about.seen}: ${next.head.method} ${next.path}`, about.expected, next);
    return pass('It ended the login there');
  };
}

/** The client logs in, calls the tool, and exits with 0. */
export function logsIn(view: View, facts: ClientFacts): Opinion {
  if (!view.scenario.serves.some((era) => facts[era])) {
    return skip('the client does not speak the era of this server');
  }
  const answered = view.requests.findLast((each) => view.answerTo(each)?.message['result'] !== undefined);
  const calls = view.named('tools/call');
  const called = calls.some((each) => view.answerTo(each)?.message['result'] !== undefined);
  if (view.succeeded && (called || (!facts.calls && answered))) return pass('It logged in and was served');
  const last = loginIn(view).requests.at(-1);
  const where = last ? `its last request was ${last.head.method} ${last.path}` : 'it asked for no metadata';
  return absent(
    view,
    `The client was not served: ${where}, and it ${outcome(view)}`,
    'The client logs in, calls the tool, and exits with 0',
    last ?? view.said.at(-1),
  );
}

/** Judges each request of a kind. */
export function each(
  view: View,
  kind: SeenLoginRequest['kind'],
  problem: (request: SeenLoginRequest) => string | undefined,
  words: { readonly expected: string; readonly seen: string },
): Opinion {
  const found = loginIn(view).of(kind);
  if (found.length === 0) return skip(NO_LOGIN);
  for (const request of found) {
    const why = problem(request);
    if (why !== undefined) return fail(why, words.expected, request);
  }
  return pass(words.seen);
}

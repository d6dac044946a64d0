import { LazyAbort } from '@isthmus/sdk/internal/async/abort.js';
import { type Clock, within } from '@isthmus/sdk/internal/async/clock.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import type { RequestFacts } from '@isthmus/sdk/internal/exchange/call.js';
import type { AccessRequest } from '@isthmus/sdk/internal/transport/http-server/admission/authorize.js';
import type { Targets } from '../aggregate/targets.js';
import { toolIn } from './create-authorize.js';
import { listCall } from './tool-hints.js';

/**
 * Reads the lists that show which servers the tools of a request belong to: a name without a prefix, or a shortened one, does not
 * tell it by itself. The caller sees in them what it would see in a list of its own. Settles within a bounded time, and never
 * rejects. Undefined: the lists would show nothing more than is known.
 */
export function learnTools(
  targets: Targets,
  request: AccessRequest,
  clock: Clock,
): Promise<unknown> | undefined {
  const names = request.messages.flatMap((message) => toolIn(message) ?? []);
  const { principal, remote, grant } = request;
  if (!targets.needsToolLists(names, { principal, scopes: grant?.scopes })) return undefined;
  const abort = new LazyAbort();
  const call = listCall({ principal, remote, request: factsOf(request) }, {}, abort);
  const reading = targets.learnTools(names, call);
  return (
    reading &&
    within(clock, PATIENCE_MS, reading).then((isRead) => {
      if (!isRead) abort.abort(new IsthmusError('TIMED_OUT', 'the request was decided without the lists'));
    })
  );
}

/** The scopes decide what is listed, and the token may have to be exchanged for one of a server. */
function factsOf({ grant, header }: AccessRequest): RequestFacts {
  const authorization = header('authorization');
  return {
    headers: authorization === undefined ? {} : { authorization },
    scopes: grant?.scopes,
    clientId: grant?.clientId,
    claims: grant?.claims,
    sessionId: undefined,
  };
}

const PATIENCE_MS = 5000;

import { isThenable } from '@isthmus/sdk/internal/async/deferred.js';
import { ProtocolError } from '@isthmus/sdk/internal/errors.js';
import type { Service } from '@isthmus/sdk/internal/exchange/call.js';
import { LateResult } from '@isthmus/sdk/internal/exchange/late-result.js';
import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { deriveService } from './derive-service.js';

/** Adds the last stderr output of a process to the errors that say that it exited or could not be started. */
export function appendStderr(
  inner: Service,
  { lastStderr }: { readonly lastStderr?: (() => string) | undefined },
): Service {
  if (!lastStderr) return inner;
  const change = (error: unknown) => withStderr(error, lastStderr);
  const rethrow = (error: unknown): never => {
    throw change(error);
  };
  return deriveService(inner, {
    handle(call) {
      const result = inner.handle(call);
      if (result instanceof LateResult) result.changeError(change);
      else if (isThenable(result)) return result.then(undefined, rethrow);
      return result;
    },
    ready: inner.ready && ((opening, principal) => inner.ready!(opening, principal)?.catch(rethrow)),
  });
}

function withStderr(error: unknown, lastStderr: () => string): unknown {
  if (!(error instanceof ProtocolError) || !isAboutProcess(error.data)) return error;
  const stderrTail = lastStderr().trim().slice(-MAX_LENGTH);
  if (stderrTail === '') return error;
  const { code, message, data } = error;
  const more = { ...(isJsonObject(data) && data), stderrTail };
  return new ProtocolError(code, `${message}; last stderr: ${stderrTail}`, more);
}

function isAboutProcess(data: unknown): boolean {
  return isJsonObject(data) && REASONS.has(data['reason']);
}

const REASONS: ReadonlySet<unknown> = new Set(['CHILD_EXITED', 'CANNOT_START', 'CRASH_LOOP']);
const MAX_LENGTH = 2000;

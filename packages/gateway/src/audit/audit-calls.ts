import { ProtocolError } from '@isthmus/sdk/internal/errors.js';
import type {
  Call,
  EndedTaskStatus,
  OutlivingSlot,
  Peer,
  Service,
} from '@isthmus/sdk/internal/exchange/call.js';
import { LateResult, type ResultListener } from '@isthmus/sdk/internal/exchange/late-result.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { correlationOf } from '../access/create-authorize.js';
import { deriveCall } from '../pipeline/derive.js';
import { deriveService } from '../pipeline/derive-service.js';
import { CANCELLED, endingOf, failureOf, targetOf } from '../telemetry/call-record.js';
import type { AuditOutcome, CallAudit } from './audit-record.js';

/** Writes a record of every call to a server except `ping`, when the call is over, of every subscription when it begins, and of every task when it ends (TASK-L-094). */
export function auditCalls(
  inner: Service,
  { server, audit }: { readonly server: string; readonly audit?: CallAudit | undefined },
): Service {
  if (!audit) return inner;
  const began = (peer: Peer, method: string, opening: Promise<unknown>, uri?: string): void => {
    if (!audit.isActive()) return;
    const subscription = { server, peer, clientId: peer.clientId, method, uri };
    opening.then(
      () => writeSubscription(audit, subscription, 'ok'),
      (error: unknown) => {
        const { outcome, errorType } = failureOf(error);
        writeSubscription(audit, subscription, refusalOf(error) ?? outcome, errorType);
      },
    );
  };
  return deriveService(inner, {
    listen:
      inner.listen &&
      ((peer, wanted, onChange) => {
        const opening = inner.listen!(peer, wanted, onChange);
        began(peer, 'subscriptions/listen', opening);
        return opening;
      }),
    session:
      inner.session &&
      ((session) => {
        const keeper = inner.session!(session);
        return {
          begin: () => keeper.begin(),
          setLogLevel: (level) => keeper.setLogLevel(level),
          subscribe(uri) {
            const opening = keeper.subscribe(uri);
            began(session.peer, 'resources/subscribe', opening, uri);
            return opening;
          },
          unsubscribe: (uri) => keeper.unsubscribe(uri),
          rootsChanged: () => keeper.rootsChanged(),
          end: () => keeper.end(),
        };
      }),
    handle(call) {
      if (call.method === 'ping' || !audit.isActive()) return inner.handle(call);
      const audited = new AuditedCall(call, server, audit);
      try {
        const answer = inner.handle(audited.observed());
        if (answer instanceof LateResult) answer.observe(audited);
        else if (typeof answer?.['then'] === 'function') {
          (answer as Promise<JsonObject>).then(
            (result) => audited.complete(result),
            (error: unknown) => audited.fail(error),
          );
        } else audited.complete(answer as JsonObject);
        return answer;
      } catch (error) {
        audited.fail(error);
        throw error;
      }
    },
  });
}

interface Subscription {
  readonly server: string;
  readonly peer: Peer;
  /** Read when it begins: a later request of the session may have another one. */
  readonly clientId: string | undefined;
  readonly method: string;
  readonly uri: string | undefined;
}

function writeSubscription(
  audit: CallAudit,
  { server, peer, clientId, method, uri }: Subscription,
  outcome: AuditOutcome,
  error?: string,
): void {
  audit[outcome === 'denied' ? 'refuse' : 'write']({
    time: new Date().toISOString(),
    correlationId: correlationOf(undefined),
    ...{ principal: peer.principal, clientId, remote: peer.remote, server, method },
    ...{ tool: undefined, prompt: undefined, uri, outcome, error },
    ...{ scopes: undefined, durationMs: undefined },
  });
}

class AuditedCall implements ResultListener {
  readonly #call: Call;
  readonly #server: string;
  readonly #audit: CallAudit;
  readonly #began = performance.now();
  readonly #correlationId: string;
  /** Whether the call has become a task. */
  #isTask = false;
  #isAnswered = false;
  /** Set when the task has ended. That may be before the call is answered. */
  #writeTaskEnd: (() => void) | undefined;
  /** Read now: the request is gone when the answer is. */
  readonly #clientId: string | undefined;

  constructor(call: Call, server: string, audit: CallAudit) {
    this.#call = call;
    this.#server = server;
    this.#audit = audit;
    this.#clientId = call.request?.clientId;
    const meta = call.params['_meta'];
    this.#correlationId = correlationOf(isJsonObject(meta) ? meta['traceparent'] : undefined);
  }

  /** The call for the service. Only tools run as tasks. */
  observed(): Call {
    if (this.#call.method !== 'tools/call') return this.#call;
    return deriveCall(this.#call, { outlive: () => this.#becomesTask() });
  }

  #becomesTask(): OutlivingSlot {
    this.#isTask = true;
    return {
      stepOut() {},
      comeBack() {},
      leave() {},
      ended: (status: EndedTaskStatus, error) => {
        this.#writeTaskEnd = () => this.#write(status, error);
        if (this.#isAnswered) this.#writeTaskEnd();
      },
    };
  }

  complete(result: JsonObject): void {
    this.#end(endingOf(result).outcome, undefined);
  }

  fail(error: unknown): void {
    const { outcome, errorType } = failureOf(error);
    this.#end(refusalOf(error) ?? outcome, errorType, scopesIn(error));
  }

  #end(outcome: AuditOutcome, error: string | undefined, scopes?: readonly string[]): void {
    const call = this.#call;
    const given = this.#audit.argumentsOf?.(call.params);
    if (this.#isTask) {
      this.#write('task', error, scopes, given);
      this.#isAnswered = true;
      return this.#writeTaskEnd?.();
    }
    const isCancelled = call.cancellation.aborted;
    this.#write(isCancelled ? (CANCELLED.outcome as AuditOutcome) : outcome, error, scopes, given);
  }

  #write(outcome: AuditOutcome, error?: string, scopes?: readonly string[], given?: string): void {
    const call = this.#call;
    const { peer, method } = call;
    const write = outcome === 'denied' || outcome === 'insufficient_scope' ? 'refuse' : 'write';
    this.#audit[write]({
      time: new Date().toISOString(),
      correlationId: this.#correlationId,
      principal: peer.principal,
      clientId: this.#clientId,
      remote: peer.remote,
      server: this.#server,
      method,
      ...targetOf(call),
      outcome,
      error,
      scopes,
      durationMs: Math.round((performance.now() - this.#began) * 1000) / 1000,
      arguments: given,
    });
  }
}

/** What the rules of the gateway have refused. */
function refusalOf(error: unknown): AuditOutcome | undefined {
  const reason = error instanceof ProtocolError && isJsonObject(error.data) ? error.data['reason'] : '';
  if (reason === 'DENIED') return 'denied';
  return reason === 'INSUFFICIENT_SCOPE' ? 'insufficient_scope' : undefined;
}

function scopesIn(error: unknown): readonly string[] | undefined {
  const scopes =
    error instanceof ProtocolError && isJsonObject(error.data) ? error.data['scopes'] : undefined;
  return Array.isArray(scopes) ? (scopes as string[]) : undefined;
}

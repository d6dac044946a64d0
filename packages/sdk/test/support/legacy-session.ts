import { FakeClock } from '../../../../test/support/fake-clock.js';
import type { Answers } from '../../src/era/answers.js';
import type { EraVerdict } from '../../src/era/client/era-verdict.js';
import { NegotiatedConnection } from '../../src/era/client/negotiated-connection.js';
import type { Tenant } from '../../src/era/client/tenant.js';
import type { QuestionPolicy, TenantCaller } from '../../src/era/client-dialect-context.js';
import { LegacyClientDialect } from '../../src/era/legacy/client-dialect.js';
import { IsthmusError } from '../../src/errors.js';
import type { OnBehalfOf, OutgoingCall } from '../../src/exchange/call.js';
import type { Connection } from '../../src/exchange/connection.js';
import type { JsonObject, RequestId } from '../../src/wire/json-rpc.js';
import type { ElicitResult, InputResponse } from '../../src/wire/model.js';

/** A legacy session without a connection: the test is the server. */
export function session(questions: QuestionPolicy | undefined = 'adaptive', fallbackAnswers: Answers = {}) {
  const clock = new FakeClock();
  const sent: JsonObject[] = [];
  const wire = {
    label: 'test',
    send: (message: JsonObject) => sent.push(message),
    open: () => {},
    closed: new Promise(() => {}),
  };
  const settings = { clock, fallbackAnswers, questions, maxRounds: 10, onChange: () => {} };
  const connection = new NegotiatedConnection(wire as unknown as Connection, settings);
  const { requests } = connection;
  const server = { info: undefined, capabilities: { tools: {} }, instructions: undefined };
  let dialect!: LegacyClientDialect;
  connection.use({ server, verdict: VERDICT }, (its) => {
    dialect = new LegacyClientDialect(its);
    return dialect;
  });
  const join = (answers: Answers = {}, more: Partial<Tenant> = {}) =>
    connection.join({
      label: 'voice',
      info: { name: 'voice', version: '1' },
      answers,
      onLog: undefined,
      callers: new Set(),
      ...more,
    });
  /** All that was sent since it was last asked. */
  const said = () => sent.splice(0);
  return {
    ...{ clock, dialect, requests, join, said },
    /** The id of the only request that was sent since. */
    request(): RequestId {
      const [only, ...more] = said();
      if (!only || more.length > 0) throw new Error(`not one request: ${JSON.stringify([only, ...more])}`);
      return only['id'] as RequestId;
    },
    /** Questions, in one breath; `about` is the request on whose stream they come. */
    elicit(ids: readonly RequestId[], about?: RequestId): void {
      for (const id of ids) {
        const params = { message: `question ${id}`, requestedSchema: { type: 'object', properties: {} } };
        dialect.request({ kind: 'request', id, method: 'elicitation/create', params }, about);
      }
    },
    takeBack(requestId: RequestId): void {
      const params = { requestId };
      dialect.notification({ kind: 'notification', method: 'notifications/cancelled', params });
    },
    done(id: RequestId): void {
      dialect.response({ kind: 'result', id, result: { content: [] } });
    },
    end(): void {
      const error = new IsthmusError('CONNECTION_CLOSED', 'it is over');
      requests.fail(error);
      dialect.ended(error);
    },
  };
}

const VERDICT: EraVerdict = {
  era: 'legacy',
  revision: '2025-11-25',
  why: 'the test says so',
  evidence: [],
  discovery: [],
  ms: 0,
  supported: undefined,
  warnings: undefined,
  source: 'mode',
};

export function toolCall(name: string, more: Partial<OutgoingCall> = {}): OutgoingCall {
  const { timeoutMs = 1000 } = more;
  return { method: 'tools/call', params: { name }, timeoutMs, maxTimeoutMs: timeoutMs, ...more };
}

/** Makes a call whose outcome is looked at later: `done`, or the code of its failure. */
export function begin(
  caller: TenantCaller,
  call: OutgoingCall,
): { outcome: string; readonly settled: Promise<unknown> } {
  const begun = { outcome: 'none yet', settled: Promise.resolve() as Promise<unknown> };
  begun.settled = caller.call(call).then(
    () => {
      begun.outcome = 'done';
    },
    (error: IsthmusError) => {
      begun.outcome = String(error.code);
    },
  );
  return begun;
}

/** Somebody who is asked, and answers when the test says so. */
export class Person {
  readonly asked: string[] = [];
  readonly signals: AbortSignal[] = [];
  readonly #answers: ((response: InputResponse) => void)[] = [];

  /** As a voice of its own. */
  get answers(): Answers {
    return { elicit: (question, { signal }) => this.#ask(question.message, signal) as Promise<ElicitResult> };
  }

  /** As one of those that a voice speaks for. */
  get behalf(): OnBehalfOf {
    return {
      owner: this,
      info: undefined,
      capabilities: { elicitation: { form: {} } },
      answer: (request, signal) => this.#ask((request.params as { message: string }).message, signal),
    };
  }

  /** Answers the oldest question that is open. */
  decline(): void {
    this.#answers.shift()!({ action: 'decline' });
  }

  #ask(message: string, signal: AbortSignal): Promise<InputResponse> {
    this.asked.push(message);
    this.signals.push(signal);
    return new Promise((resolve) => this.#answers.push(resolve));
  }
}

/** What needs no time has happened. */
export async function settle(): Promise<void> {
  for (let each = 0; each < 3; each += 1) await new Promise((resolve) => setImmediate(resolve));
}

export function declined(id: RequestId): JsonObject {
  return { jsonrpc: '2.0', id, result: { action: 'decline' } };
}

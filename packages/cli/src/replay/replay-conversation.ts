import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';
import {
  errorMessage,
  isJsonObject,
  isRequestId,
  type JsonRpcMessage,
  type RequestId,
} from '@isthmus/sdk/internal/wire/json-rpc.js';
import { CarriedValues } from './carried-values.js';
import { type AnswerDifference, compareAnswers } from './compare-answers.js';
import type { RecordedConversation, ScriptFrame } from './read-script.js';
import type { ReplayAnswer, ReplayPeer } from './replay-peer.js';

/** One request of the file, and how its answer compares. */
export interface ReplayedRequest {
  /** The number of its frame in the file. */
  readonly frame: number;
  readonly method: string;
  readonly about?: string;
  /** Why there is no answer to compare. */
  readonly failure?: string;
  readonly differences: readonly AnswerDifference[];
}

export interface ReplayOptions {
  readonly timeoutMs: number;
  readonly shape: boolean;
  readonly signal: AbortSignal;
}

/**
 * Sends the frames of the client in their order. What the file has as an answer or a question is waited for before the
 * next frame leaves. A request without an answer in the file is sent and not waited for.
 */
export async function replayConversation(
  { frames, connection }: RecordedConversation,
  peer: ReplayPeer,
  options: ReplayOptions,
): Promise<readonly ReplayedRequest[]> {
  const replay = new Replay(frames, peer, options);
  if (connection.era === 'legacy' && !frames.some(({ method }) => method === 'initialize'))
    await replay.shakeHands(connection.revision ?? '2025-11-25');
  for (const frame of frames) {
    if (options.signal.aborted) break;
    await replay.play(frame);
  }
  return replay.done;
}

class Replay {
  readonly done: ReplayedRequest[] = [];
  readonly #peer: ReplayPeer;
  readonly #options: ReplayOptions;
  readonly #carried = new CarriedValues();
  readonly #bySeq: ReadonlyMap<number, ScriptFrame>;
  /** Questions of the file that the server has not asked yet. */
  readonly #expected: ScriptFrame[];
  /** The ids of the questions of now, by the frame of the question in the file. */
  readonly #asked = new Map<number, RequestId>();
  /** Requests that were sent and have an answer in the file. */
  readonly #open = new Map<number, RequestId>();

  constructor(frames: readonly ScriptFrame[], peer: ReplayPeer, options: ReplayOptions) {
    this.#peer = peer;
    this.#options = options;
    this.#bySeq = new Map(frames.map((frame) => [frame.seq, frame]));
    this.#expected = frames.filter(({ direction, kind }) => direction === 'to-client' && kind === 'request');
    this.#answered = new Set(
      frames.filter(({ direction }) => direction === 'to-client').map(({ answers }) => answers),
    );
  }

  readonly #answered: ReadonlySet<number>;

  async play(frame: ScriptFrame): Promise<void> {
    const { direction, kind } = frame;
    if (direction === 'to-server') return this.#send(frame);
    if (kind === 'request') return this.#question(frame);
    const request = kind === 'notification' ? undefined : this.#bySeq.get(frame.answers);
    if (request) await this.#answer(request, frame);
  }

  /** The file begins after the handshake. */
  async shakeHands(protocolVersion: string): Promise<void> {
    const params = {
      protocolVersion,
      capabilities: {},
      clientInfo: { name: 'isthmus-replay', version: '1' },
    };
    const id = 'isthmus-replay';
    this.#peer.connection.send({ jsonrpc: '2.0', id, method: 'initialize', params });
    await this.#until(() => this.#peer.hasAnswered(id));
    this.#peer.connection.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  }

  #send(frame: ScriptFrame): void {
    const { connection } = this.#peer;
    const { kind, message, text, answers, seq } = frame;
    if (!message || kind === 'noise') return connection.sendRequestText?.(text);
    if (kind === 'result' || kind === 'error') {
      const id = this.#asked.get(answers);
      if (id !== undefined) connection.send({ ...message, id } as unknown as JsonRpcMessage);
      return;
    }
    const params = isJsonObject(message['params']) ? message['params'] : undefined;
    const now = params && this.#carried.apply(params);
    const changed = now === params ? message : { ...message, params: now };
    if (kind === 'notification') return connection.send(changed as unknown as JsonRpcMessage);
    const id = message['id'];
    if (isRequestId(id)) {
      this.#peer.forget(id);
      if (this.#answered.has(seq)) this.#open.set(seq, id);
    }
    if (connection.sendRequestText)
      connection.sendRequestText(now === params ? text : JSON.stringify(changed));
    else connection.send(changed as unknown as JsonRpcMessage);
  }

  async #answer(request: ScriptFrame, recorded: ScriptFrame): Promise<void> {
    const id = this.#open.get(request.seq);
    if (id === undefined) return;
    const came = await this.#until(() => this.#peer.hasAnswered(id));
    const answer = this.#peer.answerTo(id);
    this.#open.delete(request.seq);
    if (!came || !answer) {
      const failure = `it did not answer within ${this.#options.timeoutMs} ms`;
      return this.#report(request, { failure });
    }
    if ('message' in answer && isJsonObject(recorded.message?.['result']))
      this.#carried.learn(
        recorded.message['result'],
        isJsonObject(answer.message['result']) ? answer.message['result'] : undefined,
      );
    this.#report(request, answer, recorded);
  }

  /** Waits for a question. When every request has its answer, it will not come any more. */
  async #question(frame: ScriptFrame): Promise<void> {
    const isOver = () => [...this.#open.values()].every((id) => this.#peer.hasAnswered(id));
    await this.#until(() => this.#asked.has(frame.seq) || isOver());
    if (this.#asked.has(frame.seq)) return;
    this.#expected.splice(this.#expected.indexOf(frame), 1);
    this.#report(frame, { failure: 'it did not ask this' });
  }

  #until(holds: () => boolean): Promise<boolean> {
    const { timeoutMs, signal } = this.#options;
    return this.#peer.until(
      () => {
        this.#takeQuestions();
        return holds();
      },
      timeoutMs,
      signal,
    );
  }

  /** A question of the file is answered as in the file, when it is its turn. Any other is refused. */
  #takeQuestions(): void {
    for (;;) {
      const question = this.#peer.takeQuestion(() => true);
      if (!question) return;
      const at = this.#expected.findIndex(({ method }) => method === question.method);
      const [frame] = at < 0 ? [] : this.#expected.splice(at, 1);
      if (frame) {
        this.#asked.set(frame.seq, question.id);
        const { params } = question;
        this.#report(frame, { message: params ? { params } : {} }, frame);
        continue;
      }
      const error = { code: ErrorCode.MethodNotFound, message: 'The recorded client was not asked this' };
      this.#peer.connection.send(errorMessage(question.id, error));
      if (question.method !== 'ping')
        this.done.push({
          frame: 0,
          method: question.method,
          failure: 'the file does not have this question',
          differences: [],
        });
    }
  }

  #report(request: ScriptFrame, answer: ReplayAnswer, recorded?: ScriptFrame): void {
    const { seq, method, about } = request;
    const { jsonrpc: _, id: __, method: ___, ...body } = recorded?.message ?? {};
    const differences = 'message' in answer ? compareAnswers(body, answer.message, this.#options.shape) : [];
    this.done.push({
      ...{ frame: seq, method, ...(about !== '' && { about }) },
      ...('failure' in answer && { failure: answer.failure }),
      differences,
    });
  }
}

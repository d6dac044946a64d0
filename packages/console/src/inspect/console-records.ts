import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { CallRecords } from '../calls/make-call.js';
import { Connections } from '../frames/connections.js';
import { framesOfCall } from '../frames/frame-views.js';
import { FrameRecorder } from '../frames/recorder.js';
import { FrameRing, KINDS, type RingOptions } from '../frames/ring.js';
import { rawMember } from '../json/raw-members.js';
import { CallStore } from '../stores/call-store.js';
import { ListenStore } from '../stores/listen-store.js';
import { LineCutter, LogStore } from '../stores/log-store.js';
import { QuestionStore } from '../stores/question-store.js';

export interface ConsoleRecordsOptions extends RingOptions {
  /** Whether frames are recorded from the beginning. */
  readonly isRecording: boolean;
  /** What processes write to stderr, and ends of connections, become log lines. Default: yes; a gateway has its own log. */
  readonly makesLogs?: boolean | undefined;
  /** Removes secrets before a frame is kept. */
  readonly clean?: ((text: string) => string) | undefined;
  /** Which calls are recorded, in a gateway of which server. Default: all. */
  wants?(call: number, server: string | undefined): boolean;
}

/** All that a console writes down: frames, connections, calls, questions, subscriptions, logs. */
export class ConsoleRecords implements CallRecords {
  /** Milliseconds since 1970. Times of frames count from it. */
  began = Date.now();
  readonly #origin = performance.now();
  readonly ring: FrameRing;
  readonly connections = new Connections();
  readonly calls = new CallStore();
  readonly questions = new QuestionStore();
  readonly listens = new ListenStore();
  readonly logs = new LogStore();
  readonly recorder: FrameRecorder;

  constructor({ isRecording, makesLogs = true, clean, wants, ...bounds }: ConsoleRecordsOptions) {
    this.ring = new FrameRing(bounds);
    const stderr = new LineCutter();
    this.recorder = new FrameRecorder(
      {
        ring: this.ring,
        connections: this.connections,
        nextCall: (isOwn) => (isOwn ? this.calls.nextOwnNumber() : this.calls.nextNumber()),
        clean,
        ...(wants && { wants }),
        now: () => performance.now() - this.#origin,
        ...(makesLogs && {
          onStderr: (connection: number, text: string) => {
            for (const line of stderr.add(connection, text)) this.#stderr(connection, line);
          },
          onEnd: (connection: number, why: string) => {
            for (const line of stderr.end(connection)) this.#stderr(connection, line);
            this.logs.add({ source: 'process', level: 'info', text: why, ...this.#processOf(connection) });
          },
        }),
      },
      isRecording,
    );
    this.questions.asked.watch(({ call }) => this.#asks(call, true));
    this.questions.over.watch((question) => {
      const entry = this.calls.get(question.call);
      if (entry) entry.questions.push(question);
      this.#asks(
        question.call,
        this.questions.all().some(({ call }) => call === question.call),
      );
    });
  }

  now(): number {
    return Date.now();
  }

  resultText(call: number, result: JsonObject): string {
    const frame = framesOfCall(this.ring, call).findLast(({ kind }) => KINDS[kind] === 'result');
    const isWhole = frame && (frame.flags & 2) === 0;
    const text = isWhole ? rawMember(this.ring.dataOf(frame).toString(), 'result') : undefined;
    return text ?? JSON.stringify(result);
  }

  #asks(call: number, isAsking: boolean): void {
    const entry = this.calls.get(call);
    if (entry && entry.row.state !== 'done')
      this.calls.change(entry, { state: isAsking ? 'asking' : 'running' });
  }

  #stderr(connection: number, text: string): void {
    this.logs.add({ source: 'stderr', text, ...this.#processOf(connection) });
  }

  #processOf(connection: number): { readonly pid?: number; readonly server?: string } {
    const { pid, server } = this.connections.get(connection) ?? {};
    return { ...(pid !== undefined && { pid }), ...(server !== undefined && { server }) };
  }
}

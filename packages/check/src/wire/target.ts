import type { Readable, Writable } from 'node:stream';
import type { ChildExit } from '@isthmus/sdk/internal/process/child.js';

/** Whom to judge. */
export type CheckTarget = StreamTarget | HttpTarget;

/** A server behind a stream of lines: the pipes of a command, a socket, or streams within this process. */
export interface StreamTarget {
  readonly transport: 'command' | 'socket';
  readonly label: string;
  /** A new connection; for a command a new process. Rejects when there is none to be had. */
  readonly open: () => Promise<Pipe>;
}

export interface HttpTarget {
  readonly transport: 'http';
  readonly label: string;
  readonly url: URL;
  /** For every request: what lets us in. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The bytes of one connection. */
export interface Pipe {
  /** What the server says. */
  readonly input: Readable;
  /** What it hears. */
  readonly output: Writable;
  /** Set where the server is a process of ours. */
  readonly process?: PipeProcess;
  /** Ends it, and the process with all that it started. */
  close(): Promise<void>;
}

export interface PipeProcess {
  readonly pid: number;
  readonly exited: Promise<ChildExit>;
  readonly isGone: boolean;
  /** The end of what it wrote to stderr. */
  stderr(): string;
}

import type { CallRow, ConnectionView, FrameKind, HttpFacts, ProcessFacts, TargetView } from '../contract.js';

/** The first line of a trace file. */
export interface TraceHead {
  readonly trace: 1;
  readonly isthmus: string;
  /** ISO 8601. */
  readonly savedAt: string;
  /** What the times of frames count from, in milliseconds since 1970. */
  readonly began: number;
  readonly target: Pick<TargetView, 'label' | 'kind'>;
  readonly redacted: boolean;
}

/** A frame as a line of a trace file. */
export interface TraceFrame {
  readonly seq: number;
  /** Milliseconds since `TraceHead.began`. */
  readonly at: number;
  readonly connection: number;
  readonly direction: 'to-server' | 'to-client';
  readonly kind: FrameKind;
  readonly method?: string;
  readonly about?: string;
  readonly id?: string | number;
  readonly call?: number;
  readonly took?: number;
  readonly answers?: number;
  readonly failed?: true;
  readonly redacted?: true;
  readonly byHand?: true;
  readonly bytes: number;
  readonly text?: string;
  /** Instead of `text`, where the bytes are not UTF-8. */
  readonly base64?: string;
  readonly http?: HttpFacts;
  readonly process?: ProcessFacts;
  readonly problem?: string;
}

/** Any other line. Of several about the same connection or call, the last one counts. */
export type TraceLine = TraceFrame | { readonly connection: ConnectionView } | { readonly call: CallRow };

import type { FrameKind } from './frames.js';
import type { EraName, Seq } from './words.js';

/** What is different between the two sides of a call, in the order of time. */
export interface Lens {
  readonly call: number;
  /** Undefined where there is only one side. */
  readonly client?: { readonly era: EraName; readonly revision: string; readonly connection: number };
  readonly upstream?: { readonly era: EraName; readonly revision: string; readonly connection: number };
  /** Both sides speak one era: only ids, envelopes and times differ. */
  readonly sameEra: boolean;
  readonly frames: readonly LensFrame[];
  readonly links: readonly LensLink[];
  /** One note for each number of `links`. */
  readonly notes: readonly { readonly row: number; readonly say: string }[];
  /** Answers about a task that said the same as the one before are left out, with their requests. The wire has them. */
  readonly leftOut: number;
  /** What a person answered to questions of the call, in the order of time. */
  readonly answers: readonly LensAnswer[];
  readonly ms: number;
}

export interface LensAnswer {
  /** Milliseconds since the first frame, with one decimal. */
  readonly at: number;
  readonly waitedMs: number;
  /** The beginning of the answer: `{"action":"accept","content":{"name":"Ada"}}`. Absent: the question was taken back. */
  readonly answer?: string;
}

export interface LensFrame {
  readonly seq: Seq;
  /** Milliseconds since the first frame, with one decimal. */
  readonly at: number;
  readonly side: 'client' | 'upstream';
  readonly direction: 'to-server' | 'to-client';
  readonly kind: FrameKind;
  readonly method?: string;
  readonly id?: string | number;
  /** A few words: `_meta: version, client, capabilities`, `input_required, requestState`. */
  readonly gist: string;
}

/** A frame of one side and what became of it on the other. `row`: the row of the table in docs/bridge.md. */
export interface LensLink {
  readonly from: Seq;
  readonly to: Seq;
  readonly row: number;
  /** Where the two frames differ, when both are of one kind. At most 50. */
  readonly differences: readonly LensDifference[];
}

export interface LensDifference {
  /** A JSON pointer into the frame: `/params/_meta/progressToken`. */
  readonly pointer: string;
  /** Which of the two frames has it. */
  readonly in: 'client' | 'upstream' | 'both';
  readonly row: number;
  readonly say: string;
}

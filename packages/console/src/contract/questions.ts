import type { EpochMs, JsonText } from './words.js';

/** A server asks. `params` are those of `elicitation/create` or `sampling/createMessage`. */
export interface QuestionView {
  readonly id: number;
  readonly kind: 'form' | 'url' | 'sampling';
  /** 0: it belongs to no call. */
  readonly call: number;
  readonly server?: string;
  /** The name that the server gives itself, and the tool that led to it. */
  readonly asker: string;
  readonly tool?: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly since: EpochMs;
}

/** Of a form or a page: `action`, with `content` where it is accepted. Of sampling: `result`. Of each: `error`. */
export type QuestionAnswer =
  | { readonly action: 'accept' | 'decline' | 'cancel'; readonly content?: JsonText }
  | { readonly result: JsonText }
  | { readonly error: { readonly code: number; readonly message: string } };

export interface AnsweredQuestion extends QuestionView {
  readonly over?: { readonly at: EpochMs; readonly why: 'answered' | 'withdrawn' | 'ended' };
  /** As it was sent. */
  readonly answer?: JsonText;
}

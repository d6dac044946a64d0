import type { Recording } from './recording.js';
import type { Json, Revision } from './revision.js';

/** An official client in one of its modes: what the story needs of it, and in what it differs. */
export interface Peer {
  readonly title: string;
  readonly era: 'legacy' | 'modern';
  /** What it agrees on with a server that speaks everything. */
  readonly revision: Revision;
  connect(recording: Recording, options?: PeerOptions): Promise<Session>;
}

export interface PeerOptions {
  /** What the client declares. All it can do by default. */
  readonly capabilities?: Json;
}

export interface ToolResult {
  readonly content: readonly Json[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
}

export interface CallOptions {
  readonly onprogress?: (progress: Json) => void;
  readonly signal?: AbortSignal;
  /** Modern clients ask for logs call by call. */
  readonly logLevel?: string;
}

/** A connected client. */
export interface Session {
  readonly revision: string | undefined;
  readonly serverInfo: Json | undefined;
  readonly capabilities: Json | undefined;
  readonly instructions: string | undefined;
  /** All pages. */
  tools(): Promise<readonly Json[]>;
  resources(): Promise<readonly Json[]>;
  templates(): Promise<readonly Json[]>;
  prompts(): Promise<readonly Json[]>;
  call(name: string, args?: Json, options?: CallOptions): Promise<ToolResult>;
  read(uri: string): Promise<readonly Json[]>;
  prompt(name: string, args?: Record<string, string>): Promise<readonly Json[]>;
  complete(ref: Ref, name: string, value: string): Promise<readonly string[]>;
  /** Legacy: `resources/subscribe`. Modern: a listen that asks for the tool list as well. */
  subscribe(uri: string): Promise<{ stop(): Promise<void> }>;
  /** Legacy only. */
  setLogLevel(level: 'info' | 'warning'): Promise<void>;
  /** How the client answers; replaced by the steps that need another answer. */
  answers: Answers;
  /** What it was asked, in order. */
  readonly questions: readonly Question[];
  /** What arrived unasked, in order. */
  readonly notifications: readonly Json[];
  /** What the client itself found wrong with what it got. */
  readonly complaints: readonly Error[];
  close(): Promise<void>;
}

export type Ref =
  | { readonly type: 'ref/prompt'; readonly name: string }
  | { readonly type: 'ref/resource'; readonly uri: string };

export interface Question {
  readonly method: string;
  readonly params: Json;
}

export interface Answers {
  elicit(params: Json): ElicitAnswer | Promise<ElicitAnswer>;
  sample(params: Json): string;
  roots(): { uri: string; name?: string }[];
}

export type ElicitAnswer =
  | { action: 'accept'; content?: Record<string, string | number | boolean | string[]> }
  | { action: 'decline' }
  | { action: 'cancel' };

/** Everything that a server may ask of a client. */
export const EVERYTHING: Json = {
  elicitation: { form: {}, url: {} },
  sampling: {},
  roots: {},
};

/** Notifications that the story looks at. */
export const WATCHED = [
  'notifications/message',
  'notifications/tools/list_changed',
  'notifications/prompts/list_changed',
  'notifications/resources/list_changed',
  'notifications/resources/updated',
] as const;

/** A friendly user at the client: accepts every form, knows one city, has one root. */
export function friendlyAnswers(): Answers {
  return {
    elicit: (params) => {
      if (params['mode'] === 'url') return { action: 'accept' };
      const { properties } = params['requestedSchema'] as { properties: Record<string, { type: string }> };
      const content = Object.entries(properties).map(([name, { type }]) => [
        name,
        type === 'boolean' || 'Ada',
      ]);
      return { action: 'accept', content: Object.fromEntries(content) };
    },
    sample: () => 'Paris',
    roots: () => [{ uri: 'file:///home/ada', name: 'home' }],
  };
}

/** What an official client connects to. */
export type Address =
  | { readonly command: string; readonly args: readonly string[] }
  | { readonly url: string };

/** An official client in one of its modes. */
export interface ClientKind {
  readonly name: string;
  readonly title: string;
  /** What it speaks, the preferred first. */
  readonly eras: readonly ('legacy' | 'modern')[];
  connect(address: Address, env: Record<string, string>): Promise<Session>;
}

export type Json = Record<string, unknown>;

/** A connected client, and what the features need of it. */
export interface Session {
  readonly era: 'legacy' | 'modern';
  readonly revision: string | undefined;
  readonly serverName: string | undefined;
  readonly instructions: string | undefined;
  tools(): Promise<string[]>;
  resources(): Promise<string[]>;
  templates(): Promise<string[]>;
  prompts(): Promise<string[]>;
  call(name: string, args?: Json, options?: CallOptions): Promise<ToolResult>;
  read(uri: string): Promise<Json[]>;
  prompt(name: string, args: Record<string, string>): Promise<Json[]>;
  complete(ref: Ref, argument: string, value: string): Promise<string[]>;
  /** Legacy: subscribes to the resource, lists are told unasked. Modern: listens. */
  watch(what: Watched): Promise<{ stop(): Promise<void> }>;
  /** Legacy: for the session. Modern: named by each call from here on. */
  setLogLevel(level: LogLevel): Promise<void>;
  answers: Answers;
  /** What it was asked, in order. */
  readonly questions: readonly Json[];
  /** What arrived unasked, in order. */
  readonly notifications: readonly { readonly method: string; readonly params?: Json }[];
  /** What the client itself found wrong with what it got. */
  readonly complaints: readonly string[];
  close(): Promise<void>;
}

export interface CallOptions {
  readonly onprogress?: (progress: Json) => void;
  readonly signal?: AbortSignal;
}

export interface ToolResult {
  readonly content: readonly Json[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
}

export type Ref =
  | { readonly type: 'ref/prompt'; readonly name: string }
  | { readonly type: 'ref/resource'; readonly uri: string };

export type Watched = { readonly uri: string } | { readonly list: 'tools' | 'resources' };

export type LogLevel = 'debug' | 'info' | 'warning';

export interface Answers {
  elicit(message: string): { action: 'accept'; content: Json } | { action: 'decline' | 'cancel' };
  sample(prompt: string): string;
}

/** Notifications that are kept. */
export const KEPT = [
  'notifications/message',
  'notifications/tools/list_changed',
  'notifications/resources/list_changed',
  'notifications/resources/updated',
] as const;

export const CAPABILITIES = { elicitation: { form: {} }, sampling: {}, roots: {} };

export const ROOTS = [{ uri: 'file:///home/ada', name: 'home' }];

/** A user who gives the question back, and a model that is no better. */
export function friendlyAnswers(): Answers {
  return {
    elicit: (message) => ({ action: 'accept', content: { name: `Ada of ${message}` } }),
    sample: (prompt) => `${prompt}!`,
  };
}

/**
 * Keeps what a client complains about: not a progress that it read together with the answer of the call, nor the
 * stream of a call that it gave up itself.
 */
export function keepComplaints(client: { onerror?: ((error: Error) => void) | undefined }): string[] {
  const complaints: string[] = [];
  client.onerror = (error) => {
    const text = String(error);
    if (!/notification for an unknown token|AbortError/.test(text)) complaints.push(text);
  };
  return complaints;
}

/** The model's answer, whatever the client. */
export function sampled(answers: Answers, params: unknown) {
  const { messages } = params as { messages: { content: { text: string } }[] };
  return {
    model: 'parrot',
    role: 'assistant' as const,
    content: { type: 'text' as const, text: answers.sample(messages[0]?.content.text ?? '') },
  };
}

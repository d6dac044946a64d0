/** A GET, a DELETE or anything else that is no POST, and what a script can do about it. */
export interface ScriptRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The whole answer. */
  status(status: number, body?: string, headers?: Readonly<Record<string, string>>): void;
  /** Begins an event stream that stays open until `end`. */
  stream(headers?: Readonly<Record<string, string>>): void;
  event(data: string, fields?: { readonly event?: string; readonly id?: string }): void;
  raw(text: string): void;
  end(): void;
}

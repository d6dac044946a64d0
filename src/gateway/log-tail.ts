/** One line of what a server, or the gateway about it, had to say. */
export interface LogLine {
  readonly server: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Its stderr, its log notifications, or what happened to its process. */
  readonly source: 'stderr' | 'log' | 'gateway';
  readonly text: string;
  readonly level?: string | undefined;
  readonly pid?: number | undefined;
  readonly generation?: number | undefined;
  /** How many lines before this one were left out, because they came faster than they were taken. */
  readonly missed?: number;
}

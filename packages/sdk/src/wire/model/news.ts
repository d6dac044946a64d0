import type { LoggingLevel } from './vocabulary.js';

/** News from a server: what changed, how far a call has come, what it logs. */

/** What `subscriptions/listen` is to report. Since 2026-07-28. */
export type SubscriptionFilter = {
  toolsListChanged?: boolean;
  promptsListChanged?: boolean;
  resourcesListChanged?: boolean;
  /** URIs whose changes are wanted. */
  resourceSubscriptions?: string[];
};

/** How far a request has come. */
export type ProgressUpdate = {
  /** Rises with every update, even when `total` is unknown. */
  progress: number;
  total?: number;
  /** Since 2025-03-26. */
  message?: string;
};

export type LogEntry = {
  level: LoggingLevel;
  /** Any JSON value. */
  data: unknown;
  /** Which part of the server speaks. */
  logger?: string;
};

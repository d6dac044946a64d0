import type { Service } from '@isthmus/sdk/internal/exchange/call.js';
import type {
  EpochMs,
  LogRow,
  Reloaded,
  ServerDetail,
  ServerView,
  SettingsView,
  Snippet,
  StatusView,
} from '../contract.js';
import type { SnippetFacts } from '../inspect/inspect-options.js';

/** What the console adds to the state of a server: it counts the calls. */
type Counted = 'callsPerSecond' | 'errorShare' | 'p95' | 'cpu';

/** The state of a server, as the gateway knows it. */
export interface ViewedServer extends Omit<ServerView, Counted> {
  /** CPU time of all its processes so far. */
  readonly cpuMs?: number;
}

export interface ViewedStatus extends Omit<StatusView, 'servers' | 'callsPerSecond' | 'errorShare'> {
  readonly servers: readonly ViewedServer[];
}

/** What a page about one server shows besides its state. */
export type ViewedDetail = Pick<ServerDetail, 'limits' | 'tools' | 'likely'>;

/** A running gateway, as its console sees it. The command line hands it over. */
export interface GatewayView {
  status(): Promise<ViewedStatus>;
  detail(name: string): Promise<ViewedDetail>;
  restart(name: string): Promise<void>;
  stop(name: string): Promise<void>;
  start(name: string): Promise<void>;
  reload(): Promise<Reloaded>;
  /** How many calls of one caller may run at a server at once. Undefined: there is no such limit. */
  callerLimit(server: string): number | undefined;
  settings(): Omit<SettingsView, 'console'>;
  /** Log lines: the last ones, then those that come, until the signal. */
  logs(signal: AbortSignal): AsyncIterable<Omit<LogRow, 'number'>>;
  /** A server with all that stands in front of it. Throws for an unknown name. */
  service(name: string): Service;
  /**
   * Whom the server takes a person of the console for. Undefined: no principal, as all clients of this gateway.
   * Throws where the person cannot call it without taking it from others.
   */
  principalFor(name: string, who: string): string | undefined;
  /** Removes secrets from a frame. JSON stays JSON. */
  clean(text: string): string;
  /** A line or a program that calls a server at the address of the gateway. */
  snippet(facts: SnippetFacts): Promise<Snippet>;
  readonly mayRecord: boolean;
  /** Writes down what a person did. */
  note(line: string): void;
  /** A person came in, or was refused: then it is not known who that is. */
  entered?(who: string | undefined, address: string): void;
}

/** A moment in the life of the processes of a server. */
export interface ServerMoment {
  readonly at: EpochMs;
  readonly what: string;
  readonly generation?: number;
}

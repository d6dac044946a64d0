import type { EraVerdict } from '@isthmus/sdk/internal/era/client/era-verdict.js';
import type { ServerFacts } from '@isthmus/sdk/internal/exchange/call.js';
import type { Connector } from '@isthmus/sdk/internal/exchange/connection.js';
import type { Tap } from '@isthmus/sdk/internal/exchange/tap.js';
import type { DecodedMessage } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { CheckRunner } from '../checks/check-store.js';
import type {
  ConnectionProblem,
  ConnectionSettings,
  EraName,
  Snippet,
  SnippetRequest,
  TargetView,
  Warning,
} from '../contract.js';
import type { JudgeMessage } from '../frames/frame-schema.js';
import type { TraceRedactor } from '../trace/write-trace.js';

/** What is known of a server after it was connected to, for warnings. */
export interface ConnectedFacts {
  readonly label: string;
  readonly verdict: EraVerdict;
  readonly server: ServerFacts;
  /** How many connections it took. */
  readonly opened: number;
  /** What the server sent until the era was known. */
  readonly seen: readonly DecodedMessage[];
  readonly noise: { readonly count: number; readonly sample: string };
}

/** A snippet to be written, with the params as text. */
export interface SnippetFacts extends Pick<SnippetRequest, 'kind' | 'server'> {
  readonly method: string;
  readonly params: string;
  /** The member `arguments` of the params, as it was typed. */
  readonly args?: string | undefined;
  /** Of the open connection, or else modern. */
  readonly era: EraName;
  readonly revision: string;
}

/** What the command line hands to the console of one server. */
export interface InspectOptions {
  readonly target: TargetView;
  /** The connector of the server, or of the server with this name of the file. */
  connector(tap: Tap, name: string | undefined): Connector | Promise<Connector>;
  readonly settings: ConnectionSettings;
  readonly timeoutMs?: number | undefined;
  readonly connectTimeoutMs?: number | undefined;
  /** Removes secrets from what is saved. */
  readonly redactor: TraceRedactor;
  /** Why it cannot connect, and what to do. `stderr`: its last lines. */
  explain(
    error: unknown,
    stderr: readonly string[],
    name: string | undefined,
  ): ConnectionProblem | Promise<ConnectionProblem>;
  readonly judge: JudgeMessage;
  warnings(facts: ConnectedFacts): readonly Warning[];
  snippet(facts: SnippetFacts, name: string | undefined): Promise<Snippet>;
  /** Runs the referee. Undefined: this console cannot check. */
  check?(name: string | undefined): Promise<CheckRunner>;
  readonly port?: number | undefined;
  /** For the terminal. */
  say(line: string): void;
}

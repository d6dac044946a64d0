import type { ServerStatus } from '@isthmus/sdk/internal/host/status.js';

/** What a gateway says of itself: `/status`, and the control socket. Holds no secrets: no environment, no headers. */
export interface GatewayStatus {
  readonly pid: number;
  readonly version: string;
  /** ISO 8601. */
  readonly startedAt: string;
  /** The addresses it listens on. */
  readonly listening: readonly string[];
  /** Whether every server that is needed is ready. */
  readonly ready: boolean;
  /** In the order of the configuration. */
  readonly servers: Readonly<Record<string, GatewayServerStatus>>;
  /** Why the configuration was last not taken over, while that still holds. */
  readonly configProblem: string | undefined;
}

/** One server behind the gateway. */
export interface GatewayServerStatus {
  readonly name: string;
  readonly kind: 'command' | 'url';
  /** Whether `/readyz` waits for it. */
  readonly needed: boolean;
  /**
   * - `ready`: the current process (or the remote server) has answered, and nothing says otherwise since.
   * - `starting`, `restarting`: not yet, or not again.
   * - `asleep`: not used, so not started; the first call starts it.
   * - `failed`: it could not be started, crashed too often, or does not read; `reason` says why.
   * - `off`: switched off.
   */
  readonly state: 'ready' | 'starting' | 'restarting' | 'asleep' | 'failed' | 'off';
  readonly reason: string | undefined;
  readonly era: 'legacy' | 'modern' | undefined;
  /** How the era was found. */
  readonly evidence: string | undefined;
  readonly server: { readonly name: string; readonly version: string } | undefined;
  readonly paths: readonly string[];
  /** Its processes, with the receipts of the current ones. */
  readonly processes: ServerStatus | undefined;
}

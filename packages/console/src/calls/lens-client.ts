import { createBridge } from '@isthmus/sdk/internal/bridge/create-bridge.js';
import type { Upstream } from '@isthmus/sdk/internal/client/connect.js';
import { ownConnection } from '@isthmus/sdk/internal/client/connection-source.js';
import { resolveConnect } from '@isthmus/sdk/internal/client/options.js';
import { ReconnectingCaller } from '@isthmus/sdk/internal/client/reconnecting-caller.js';
import type { Answers } from '@isthmus/sdk/internal/era/answers.js';
import type { Era } from '@isthmus/sdk/internal/exchange/call.js';
import type { Tap } from '@isthmus/sdk/internal/exchange/tap.js';
import { memory } from '@isthmus/sdk/internal/transport/memory.js';
import type { Implementation } from '@isthmus/sdk/internal/wire/model.js';
import type { SharedConnection } from './shared-connection.js';

export interface LensClientOptions {
  readonly connection: SharedConnection;
  readonly label: string;
  /** The era of the client: not that of the server. */
  readonly era: Era;
  readonly info: Implementation;
  readonly answers: Answers;
  readonly tap: Tap;
}

/** A client of the other era, and the bridge between it and the server. */
export interface LensClient {
  readonly caller: ReconnectingCaller;
  close(): Promise<void>;
}

export function createLensClient(options: LensClientOptions): LensClient {
  const { era, info, answers, tap } = options;
  const bridge = createBridge(bridgeUpstream(options));
  const link = memory(bridge, {}, { tap });
  const settings = resolveConnect({ mode: era, info, answers, cache: false });
  const source = ownConnection(link, { ...settings, onChange: () => {} });
  const caller = new ReconnectingCaller(source, { ...settings, onReopened: () => {} });
  return {
    caller,
    async close() {
      await caller.close();
      await bridge.close();
    },
  };
}

/** The connection that is there already, for the bridge. */
function bridgeUpstream({ connection, label, info: own }: LensClientOptions): Upstream {
  const { clock } = resolveConnect({ cache: false });
  return {
    label,
    serves: 'everybody',
    open({ name, principal, info = own, capabilities, answers, onLog, onElicited, onReopened }) {
      const tenant = {
        ...{ label: name, info, answers, capabilities, principal, onLog, onElicited },
        callers: new Set<never>(),
      };
      const source = connection.source(tenant);
      return new ReconnectingCaller(source, { clock, timeoutMs: 60_000, reconnect: true, onReopened });
    },
  };
}

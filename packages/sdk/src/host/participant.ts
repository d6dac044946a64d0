import type { ActiveConnection } from '../client/active-connection.js';
import type { Tenant } from '../era/client-dialect-context.js';
import type { ClientCapabilities } from '../wire/model.js';

/** One of those who use the processes of a server: a conversation, as the processes see it. */
export interface Participant {
  readonly label: string;
  readonly principal: string | undefined;
  readonly voice: Tenant;
  /** What it can answer. */
  readonly capabilities: ClientCapabilities;
  /** Its shares in processes, of which there are several in a pool and while one is being replaced. */
  readonly links: Set<ActiveConnection>;
}

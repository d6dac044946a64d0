import type { Link } from '../client/link.js';
import type { Voice } from '../era/voice.js';
import type { ClientCapabilities } from '../wire/model.js';

/** One of those who use the processes of a server: a conversation, as the processes see it. */
export interface Member {
  readonly label: string;
  readonly principal: string | undefined;
  readonly voice: Voice;
  /** What it can answer. */
  readonly capabilities: ClientCapabilities;
  /** Its shares in processes, of which there are several in a pool and while one is being replaced. */
  readonly links: Set<Link>;
}

import type { ReconnectingCaller } from '../client/reconnecting-caller.js';
import type { Wanted } from '../client/subscriptions.js';
import type { CallerIdentity, Change, ListenEnd, OpenListen } from '../exchange/call.js';
import type { SubscriptionFilter } from '../wire/model.js';
import { nextTurn } from './session-news.js';

/** A subscription on the far side, for one on the near side. It goes on when the connection between is replaced. */
export async function listenThere(
  session: ReconnectingCaller,
  wanted: SubscriptionFilter,
  onChange: (change: Change) => void,
  as: CallerIdentity,
): Promise<OpenListen> {
  const there: Wanted = {
    tools: wanted.toolsListChanged ?? false,
    prompts: wanted.promptsListChanged ?? false,
    resources: wanted.resourcesListChanged ?? false,
    uris: wanted.resourceSubscriptions ?? [],
  };
  const changes = await session.listen(there, as);
  const follow = async (): Promise<ListenEnd> => {
    try {
      for await (const change of changes) {
        await nextTurn();
        onChange(change);
      }
      return { error: undefined };
    } catch (error) {
      return { error };
    }
  };
  return { honoured: changes.honoured, ended: follow(), stop: () => changes.close() };
}

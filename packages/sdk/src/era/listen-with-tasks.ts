import type { Change, OpenListen, Peer, Service } from '../exchange/call.js';
import type { SubscriptionFilter } from '../wire/model.js';

/**
 * Opens a subscription of a modern client whose tasks belong to `service`. `open` opens the part of it that is not about
 * tasks. Tasks that the client may not see are left out of what is honoured (TASK-M-063).
 */
export async function listenWithTasks(
  service: Pick<Service, 'watchTasks'>,
  peer: Peer,
  { taskIds, ...rest }: SubscriptionFilter,
  onChange: (change: Change) => void,
  open: (rest: SubscriptionFilter) => Promise<OpenListen>,
): Promise<OpenListen> {
  if (!taskIds || !service.watchTasks) return open(rest);
  const watch = await service.watchTasks(peer, taskIds, onChange);
  try {
    const opened = Object.keys(rest).length > 0 ? await open(rest) : WITHOUT_END;
    watch.start();
    return {
      honoured: { ...opened.honoured, ...(watch.accepted.length > 0 && { taskIds: [...watch.accepted] }) },
      ended: opened.ended,
      stop() {
        watch.stop();
        opened.stop();
      },
    };
  } catch (error) {
    watch.stop();
    throw error;
  }
}

/** There is nothing besides tasks. */
const WITHOUT_END: OpenListen = { honoured: {}, ended: new Promise<never>(() => {}), stop() {} };

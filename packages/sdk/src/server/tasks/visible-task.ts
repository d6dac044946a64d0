import type { Peer } from '../../exchange/call.js';
import type { TaskRecord } from './store.js';
import type { TaskRunner } from './task-runner.js';

/** The task with this id, if the client may use it. Undefined: it is unknown, expired, or belongs to another principal. */
export async function visibleTask(
  runner: TaskRunner,
  { principal }: Peer,
  id: string,
): Promise<TaskRecord | undefined> {
  if (id.length > MAX_ID) return undefined;
  const record = await runner.settings.store.get(id);
  return record && record.owner === principal ? runner.revived(record) : undefined;
}

const MAX_ID = 200;

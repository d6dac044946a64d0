import { computed } from '@preact/signals';
import { connections } from './store.js';

/** The connection to the server that is inspected: the newest one. */
export const upstream = computed(() =>
  connections.all.value.findLast((each) => each.side === 'upstream' && !each.lens),
);

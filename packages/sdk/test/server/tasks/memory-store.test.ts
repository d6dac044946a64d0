import { memoryTaskStore } from '../../../src/index.js';
import { taskStoreContract } from '../../support/task-store-contract.js';

let store = memoryTaskStore();
taskStoreContract('memory', {
  // The store of a process is shared by its servers.
  open: async () => store,
  reset: async () => {
    store = memoryTaskStore();
  },
});

import { mkdtempSync, rmSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { sqliteTaskStore } from '../../../src/server/tasks/sqlite/sqlite-task-store.js';
import { taskStoreContract } from '../../support/task-store-contract.js';

// Node 20 has no SQLite. test/e2e/task-stores.test.ts runs this file with a newer Node.
const hasSqlite = isBuiltin('node:sqlite');
const folder = mkdtempSync(join(tmpdir(), 'isthmus-sqlite-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let count = 0;

describe.skipIf(!hasSqlite)('with a real database (skipped where Node has no SQLite)', () => {
  taskStoreContract('SQLite', {
    open: () => sqliteTaskStore({ file: join(folder, `${count}.db`) }),
    reset: async () => {
      count += 1;
    },
  });
});

describe.skipIf(hasSqlite)('without a database', () => {
  it('the store says what to install', async () => {
    await expect(sqliteTaskStore({ file: join(folder, 'none.db') })).rejects.toThrow(
      'npm install better-sqlite3',
    );
  });
});

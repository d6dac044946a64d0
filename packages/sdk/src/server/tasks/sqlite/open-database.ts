import { isBuiltin } from 'node:module';
import { IsthmusError } from '../../../errors.js';

/** What is used of SQLite. `better-sqlite3` and `node:sqlite` have it in common. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
  close(): void;
}

interface SqliteStatement {
  run(...values: readonly SqliteValue[]): unknown;
  get(...values: readonly SqliteValue[]): unknown;
  all(...values: readonly SqliteValue[]): unknown[];
}

type SqliteValue = string | number | null;

/** Opens a file with `better-sqlite3` if it is installed, and otherwise with the SQLite of Node, where there is one. */
export async function openDatabase(file: string): Promise<SqliteDatabase> {
  const Database = (await installed()) ?? (await builtIn());
  if (Database) return new Database(file);
  throw new IsthmusError(
    'INVALID_OPTION',
    `Tasks in a file need the package better-sqlite3, or Node 22.13: this is Node ${process.versions.node}. Run npm install better-sqlite3`,
  );
}

type DatabaseClass = new (file: string) => SqliteDatabase;

/** The names are variables: the packages are optional, and have no types here. */
async function installed(): Promise<DatabaseClass | undefined> {
  const name = 'better-sqlite3';
  try {
    return ((await import(name)) as { default: DatabaseClass }).default;
  } catch {
    return undefined;
  }
}

async function builtIn(): Promise<DatabaseClass | undefined> {
  const name = 'node:sqlite';
  if (!isBuiltin(name)) return undefined;
  return ((await import(name)) as { DatabaseSync: DatabaseClass }).DatabaseSync;
}

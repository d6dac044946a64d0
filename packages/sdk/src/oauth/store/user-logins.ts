import { homedir } from 'node:os';
import { posix, win32 } from 'node:path';
import { fileLoginStore } from './file-store.js';
import type { LoginStore } from './login-record.js';

export interface LoginFolderSearch {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly platform?: NodeJS.Platform;
  readonly home?: string;
}

/** The folder with the logins of this user: part of the user's configuration. */
export function userLoginFolder({
  env = process.env,
  platform = process.platform,
  home = homedir(),
}: LoginFolderSearch = {}): string {
  if (platform === 'win32') {
    return win32.join(env['APPDATA'] || win32.join(home, 'AppData', 'Roaming'), 'isthmus', 'logins');
  }
  const folder = platform === 'darwin' ? ['Library', 'Application Support'] : ['.config'];
  return posix.join(home, ...folder, 'isthmus', 'logins');
}

/** The logins that `isthmus login` has made. */
export function userLoginStore(): LoginStore {
  return fileLoginStore(userLoginFolder());
}

/** What to do about a file that could not be written, by the reason that the system gives. */
export function writeHint(error: unknown): string {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return 'The disk, or your share of it, is full: free some room, or name a file elsewhere';
    case 'EROFS':
      return 'That file system is read-only: name a file elsewhere';
    case 'EACCES':
    case 'EPERM':
      return 'You may not write there: name a file elsewhere, or change who may';
    default:
      return 'Name a file elsewhere';
  }
}

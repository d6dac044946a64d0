import { fileURLToPath } from 'node:url';

/** The file of this command, to start it again as the daemon. */
export const PROGRAM = fileURLToPath(new URL('../../bin/isthmus.js', import.meta.url));

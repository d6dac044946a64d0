import { appendFileSync } from 'node:fs';
import { browse } from './browse.js';
import { createRecorder } from './record.js';

/**
 * The program that clients find as the browser of the user, in BROWSER and in their PATH.
 *
 *     node browser-program.js FILE URL
 */
const [file = '', ...words] = process.argv.slice(2);
// Some programs pass options before the address.
const url = words.at(-1) ?? '';
await browse(
  url,
  createRecorder((entry) => appendFileSync(file, `${JSON.stringify(entry)}\n`)),
);

// Before and after `npm pack` in packages/cli: `prepack` copies the pages that ship, `postpack` removes the copies.
import { copyPages, removePages } from './pages.js';

if (process.argv[2] === '--remove') removePages();
else copyPages();

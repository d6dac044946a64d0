// npm run build: dist/ from src/, installing the compiler first when it is missing.
import { ensureBuilt, ensureInstalled, runMain } from './setup.js';

await runMain(async () => {
  await ensureInstalled();
  await ensureBuilt();
});

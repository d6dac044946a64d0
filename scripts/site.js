// npm run site: the documentation as static files in site/dist, with the API reference. Open site/dist/index.html.
import { progress } from './setup/main.js';
import { inRoot } from './setup/paths.js';
import { ensureInstalled, runMain } from './setup.js';

await runMain(async () => {
  await ensureInstalled();
  // Its packages may just have been installed.
  const { buildSite } = await import('../site/build.js');
  const pages = await buildSite(inRoot('site/dist'));
  progress(`site/dist has ${pages} pages`);
});

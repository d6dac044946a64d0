import { defineConfig } from 'vite';

/**
 * The page is built by `npm run build`, with this configuration; `scripts/setup/page.js` compresses what comes out.
 * `npx vite packages/console/web` serves it from its sources instead, in front of a running `isthmus inspect` (README.md).
 */
export default defineConfig({
  root: import.meta.dirname,
  // Relative: the page may be behind a proxy that adds a path.
  base: './',
  // The same bytes wherever it is built: otherwise tests would get the JSX of development.
  mode: 'production',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact', development: false } },
  build: {
    target: 'es2022',
    // A data: URL or an inline script would break the policy of the page.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: {
    strictPort: true,
    port: 5173,
    host: '127.0.0.1',
    // The process refuses other origins: the development server stands in for it, under its name.
    proxy: devProxy(process.env['ISTHMUS_CONSOLE']),
  },
});

/** `ISTHMUS_CONSOLE`: the address of the process, such as http://127.0.0.1:4400. */
function devProxy(target: string | undefined) {
  if (target === undefined) return undefined;
  return {
    '/api': {
      target,
      changeOrigin: true,
      headers: { origin: target, 'sec-fetch-site': 'same-origin' },
      rewrite: (path: string) => `/console${path}`,
    },
  };
}

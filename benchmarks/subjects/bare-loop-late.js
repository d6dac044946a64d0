/** The bare loop behind a slow boot: it begins to read after so many milliseconds. */

const [, , ms = '500'] = process.argv;
setTimeout(() => import('./bare-loop.js'), Number(ms));

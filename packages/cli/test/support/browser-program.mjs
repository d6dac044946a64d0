#!/usr/bin/env node
// A browser for BROWSER=: follows redirects with cookies, and writes each URL that it was started with to BROWSER_LOG.
import { appendFileSync } from 'node:fs';

const cookies = new Map();
let url = new URL(process.argv[2]);
appendFileSync(process.env.BROWSER_LOG, `${url.href}\n`);
for (let hops = 0; hops < 20; hops += 1) {
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const response = await fetch(url, { redirect: 'manual', headers: { cookie } });
  for (const each of response.headers.getSetCookie()) {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(each);
    cookies.set(name, value);
  }
  const location = response.headers.get('location');
  if (location === null) break;
  url = new URL(location, url);
}

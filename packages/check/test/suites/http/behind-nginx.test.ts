import { describe, expect, it, onTestFinished } from 'vitest';
import { hasNginx, startNginx } from '../../../../../test/support/nginx.js';
import { checkServer, httpTarget } from '../../../src/index.js';
import { IN_A_HURRY } from '../../support/suites/expect-caught.js';
import { demoHttpTarget } from '../../support/suites/http-proxy.js';

describe.skipIf(!hasNginx)('a server behind nginx (skipped without nginx)', () => {
  it.each([
    // nginx obeys X-Accel-Buffering and removes it.
    ['removes it', '', 'skip', /^the answers come through nginx\/[\d.]+, which does not pass X-Accel-/],
    [
      'passes it on',
      'proxy_pass_header X-Accel-Buffering;',
      'pass',
      /^\d+ streams have X-Accel-Buffering: no$/,
    ],
    ['says otherwise', 'add_header X-Accel-Buffering yes;', 'warn', /has X-Accel-Buffering: yes$/],
  ] as const)('is judged by X-Accel-Buffering where nginx %s (HTTP-019)', async (_, more, outcome, seen) => {
    const demo = await demoHttpTarget();
    onTestFinished(() => demo.close());
    const pass = `proxy_pass ${demo.target.url.origin}; proxy_http_version 1.1; proxy_set_header Host ${demo.target.url.host};`;
    const nginx = await startNginx({
      server: `location / { ${pass} proxy_set_header Connection ""; proxy_buffering off; ${more} }`,
    });
    onTestFinished(() => nginx.stop());
    const { findings } = await checkServer(httpTarget(`${nginx.origin}${demo.target.url.pathname}`), {
      ...IN_A_HURRY,
      only: ['http-streams/not-buffered'],
    });
    expect(findings.map((each) => [each.outcome, each.seen])).toEqual([
      [outcome, expect.stringMatching(seen)],
    ]);
  });
});

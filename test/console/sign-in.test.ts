/** Who may open the console of a gateway without a link: operators with a key, with their level. */
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { AUDIENCE, openAuthority } from '../../packages/gateway/test/support/auth.js';
import { describeInBrowser, launchBrowser } from '../support/browser.js';
import { ISTHMUS } from '../support/child.js';
import { hasNginx, startNginx } from '../support/nginx.js';
import { expectSound } from './support/axe.js';
import { startServe } from './support/start-serve.js';
import { openWatched } from './support/watched-page.js';

const OPS = 'ops-key-0123456789abcdef';
const CI = 'ci-key-0123456789abcdef';

describeInBrowser('the console without a link', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it('opens for a key of an operator with its level, and for no other key', async () => {
    const keys = ['--api-key', `ops=${OPS}`, '--api-key', `ci=${CI}`, '--console-key', 'ops=look'];
    const { link } = await startServe([...keys, '--name', 'demo', '--', process.execPath, ISTHMUS, 'demo']);
    const { page } = await openWatched(browser, new URL('./', link).href, { expected: /status of 401/ });
    await page.getByRole('heading', { name: 'This page needs a link' }).waitFor();
    const key = page.getByLabel(/enter with a key/);
    await key.fill(CI);
    await page.getByRole('button', { name: 'Enter' }).click();
    await page.getByRole('alert').getByText('UNAUTHORIZED').waitFor();
    await expectSound(page, 'a wrong key');
    await key.fill(OPS);
    await page.getByRole('button', { name: 'Enter' }).click();
    await page.getByRole('row', { name: /demo/ }).waitFor();
    expect(await page.getByRole('button', { name: /restart/ }).count()).toBe(0);
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByText('key:ops (look)').waitFor();
    expect(await page.content()).not.toContain(OPS);
  }, 60_000);

  it('AUTH-S-009: opens for a token whose scope includes the one that is named, by the rules of the file', async () => {
    const { jwksUrl, token } = await openAuthority();
    const file = join(mkdtempSync(join(tmpdir(), 'isthmus-')), 'mcp.json');
    const servers = { demo: { command: process.execPath, args: [ISTHMUS, 'demo'] } };
    const access = { implies: { admin: ['ops'] } };
    writeFileSync(file, JSON.stringify({ mcpServers: servers, gateway: { access } }));
    const tokens = ['--jwt-jwks', jwksUrl, '--jwt-audience', AUDIENCE, '--console-scope', 'look=ops'];
    const { link } = await startServe(['--config', file, ...tokens]);
    const enter = async (scope: string) => {
      const answer = await fetch(new URL('api/enter', link), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jwt: await token({ scope }) }),
      });
      await answer.body?.cancel();
      return answer.status;
    };
    expect([await enter('admin'), await enter('ops'), await enter('tools')]).toEqual([200, 200, 401]);
  });

  it('closes for an operator whose key was taken out of the file, while the page is open', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'isthmus-')), 'tokens');
    const write = (...lines: string[]) => writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o600 });
    write(`ops: ${OPS}`, `ci: ${CI}`);
    const keys = ['--bearer-file', file, '--console-key', 'ops=act', '--console-key', 'ci=act'];
    const { link } = await startServe([...keys, '--name', 'demo', '--', process.execPath, ISTHMUS, 'demo']);
    const open = async (secret: string) => {
      const { page } = await openWatched(browser, new URL('./', link).href, { expected: /status of 401/ });
      await page.getByLabel(/enter with a key/).fill(secret);
      await page.getByRole('button', { name: 'Enter' }).click();
      await page.getByRole('row', { name: /demo/ }).waitFor();
      return page;
    };
    const [ops, ci] = [await open(OPS), await open(CI)];
    write(`ci: ${CI}`);
    await ops.getByRole('heading', { name: 'This page needs a link' }).waitFor();
    await ops.getByLabel(/enter with a key/).fill(OPS);
    await ops.getByRole('button', { name: 'Enter' }).click();
    await ops.getByText('This key or token does not open the console').waitFor();
    await ci.getByRole('link', { name: 'Settings' }).click();
    await ci.getByText(/key:ops/).waitFor();
  }, 60_000);

  it.skipIf(!hasNginx)(
    'opens behind nginx for an operator while a stranger tries wrong keys',
    async () => {
      // nginx asks from 127.0.0.1, its clients come from 127.0.0.2 and 127.0.0.3.
      const keys = ['--api-key', `ops=${OPS}`, '--console-key', 'ops=act', '--trust-proxy', '127.0.0.1'];
      const { link } = await startServe([...keys, '--name', 'demo', '--', process.execPath, ISTHMUS, 'demo']);
      const forwarded = 'proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;';
      const nginx = await startNginx({
        server: `location / { proxy_pass ${new URL(link).origin}; ${forwarded} }`,
      });
      onTestFinished(() => nginx.stop());
      const enter = async (localAddress: string, apiKey: string, invented: string) => {
        const headers = { 'content-type': 'application/json', 'x-forwarded-for': invented };
        const asked = request(`${nginx.origin}/console/api/enter`, { method: 'POST', localAddress, headers });
        asked.end(JSON.stringify({ apiKey }));
        const [answer] = (await once(asked, 'response')) as [IncomingMessage];
        answer.resume();
        return answer.statusCode;
      };
      const [stranger, operator] = ['127.0.0.2', '127.0.0.3'];
      for (let tries = 0; tries < 5; tries += 1)
        expect(await enter(stranger, `wrong-${tries}`, `203.0.113.${tries}`)).toBe(401);
      expect(await enter(stranger, 'wrong', '203.0.113.77')).toBe(429);
      expect(await enter(stranger, OPS, operator)).toBe(429);
      expect(await enter(operator, OPS, stranger)).toBe(200);
    },
    60_000,
  );
});

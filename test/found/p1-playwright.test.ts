import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createBridge, createHost, http, serve } from '@isthmus/sdk';
import { expect, it, onTestFinished } from 'vitest';
import { connectV2 } from '../support/official-v2.js';

/** `@playwright/mcp` asks for roots with the first call of a tool, whether or not it needs a browser for it. */

const PLAYWRIGHT = fileURLToPath(new URL('../../node_modules/@playwright/mcp/cli.js', import.meta.url));

const named = process.env['ISTHMUS_BROWSER'] ?? 'required';
const BROWSER = named === 'required' ? '/usr/bin/chromium' : named;

/** The result of a tool call, made by an official v2 client without roots. */
async function call(browser: string, tool: string, args: Record<string, unknown>) {
  const program = [PLAYWRIGHT, '--headless', '--isolated', '--no-sandbox', '--executable-path', browser];
  // It writes files into the folder that it is started in.
  const cwd = mkdtempSync(join(tmpdir(), 'isthmus-playwright-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  const host = createHost({
    servers: { it: { command: process.execPath, args: program, cwd } },
    cache: false,
    ledger: false,
  });
  const bridge = createBridge(host.upstream('it'));
  const served = await serve(bridge, http({ port: 0 }));
  onTestFinished(async () => {
    await served.close({ graceMs: 0 });
    await bridge.close();
    await host.close();
  });
  const { client } = await connectV2({ url: served.addresses[0]! }, { capabilities: {}, mode: 'auto' });
  onTestFinished(() => client.close());
  const { content, isError } = await client.callTool({ name: tool, arguments: args });
  return { isError: isError ?? false, text: JSON.stringify(content) };
}

it('P1: @playwright/mcp gets as far as its browser for an official v2 client without roots', async () => {
  const { text } = await call('/nowhere/browser', 'browser_navigate', { url: 'about:blank' });
  // The words are those of the server: the call was not refused for want of roots.
  expect(text).toContain('/nowhere/browser');
});

it.skipIf(!existsSync(BROWSER))(
  'P1: @playwright/mcp opens a page for an official v2 client without roots',
  async () => {
    const { isError, text } = await call(BROWSER, 'browser_navigate', {
      url: 'data:text/html,<title>hello</title>',
    });
    expect([isError, text]).toEqual([false, expect.stringContaining('hello')]);
  },
);

/** S16: the lens of one call in the four cells: inspected and through a gateway, a legacy and a modern official server. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInBrowser, launchBrowser } from '../support/browser.js';
import { framesInLens, goTo } from './support/in-page.mjs';
import { startInspect } from './support/start-inspect.js';
import { startServe } from './support/start-serve.js';
import { openWatched } from './support/watched-page.js';

const LEGACY = ['node_modules/@modelcontextprotocol/server-everything/dist/index.js'];
const MODERN = ['test/transparency/fixtures/official-modern.mjs'];

/** What a legacy server asks in the middle of a call becomes a round of a modern client. `#`: the note that explains it. */
const MODERN_TO_LEGACY = [
  'client → tools/call',
  'server → tools/call #1',
  'server ← elicitation/create',
  'client ← result #4',
  'client → tools/call',
  'server → result #4',
  'server ← result',
  'client ← result #3',
];
/** And the other way round. */
const LEGACY_TO_MODERN = [
  'client → tools/call',
  'server → tools/call #1',
  'server ← result',
  'client ← elicitation/create #4',
  'client → result',
  'server → tools/call #4',
  'server ← result',
  'client ← result #3',
];

describeInBrowser('the lens', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it('has the eight frames of a call with a question in order, in all four cells', async () => {
    const { page: legacy } = await openWatched(browser, await startInspect([process.execPath, ...LEGACY]));
    // This server asks for the roots some time after its start. A call of that time would have that question, too.
    await legacy.getByRole('link', { name: 'Wire', exact: true }).click();
    await legacy
      .getByRole('row', { name: /roots\/list/ })
      .first()
      .waitFor();
    expect(await lensOf(legacy, '#/tools/trigger-elicitation-request', 'name')).toEqual(MODERN_TO_LEGACY);

    const { page: modern } = await openWatched(browser, await startInspect([process.execPath, ...MODERN]));
    await modern.getByRole('heading', { name: /^Why/ }).waitFor();
    expect(await lensOf(modern, '#/tools/ask_user', 'name', 'Who?')).toEqual(LEGACY_TO_MODERN);

    const file = join(mkdtempSync(join(tmpdir(), 'isthmus-lens-')), 'servers.json');
    const command = process.execPath;
    const mcpServers = {
      legacy: { command, args: LEGACY, cwd: process.cwd() },
      modern: { command, args: MODERN, cwd: process.cwd() },
    };
    writeFileSync(file, JSON.stringify({ mcpServers }));
    const { page: gateway } = await openWatched(browser, (await startServe(['--config', file])).link);
    await gateway.getByRole('row', { name: /legacy.*ready/ }).waitFor();
    await gateway.getByRole('row', { name: /modern.*ready/ }).waitFor();
    expect(await lensOf(gateway, '#/server/legacy/tools/trigger-elicitation-request', 'name')).toEqual(
      MODERN_TO_LEGACY,
    );
    expect(await lensOf(gateway, '#/server/modern/tools/ask_user', 'name', 'Who?')).toEqual(LEGACY_TO_MODERN);
  }, 120_000);
});

/** Calls a tool in both eras, answers its question, and reads the lens. */
async function lensOf(page: Page, tool: string, field: string, message?: string): Promise<readonly string[]> {
  await page.evaluate(goTo, tool);
  if (message !== undefined) await page.getByRole('textbox', { name: /^message/ }).fill(message);
  await page.getByRole('button', { name: 'Call in both eras' }).click();
  const question = page.getByRole('alertdialog');
  await question.getByRole('textbox', { name: new RegExp(`^${field}\\b`) }).fill('Ada');
  await question.getByRole('button', { name: 'Accept' }).click();
  const lens = page.getByRole('region', { name: 'Lens' });
  await lens.getByText('✓ ok').waitFor();
  const frames = lens.getByRole('list', { name: 'Frames of the call' }).getByRole('listitem');
  await expect.poll(() => frames.count()).toBe(8);
  return frames.evaluateAll(framesInLens);
}

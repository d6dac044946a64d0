/** The tree that screen readers get, and nothing else: no selector, no text of the page, no mouse. */
import type { Browser, CDPSession, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInBrowser, launchBrowser } from '../support/browser.js';
import { ISTHMUS } from '../support/child.js';
import { startInspect } from './support/start-inspect.js';
import { openWatched } from './support/watched-page.js';

describeInBrowser('the accessibility tree alone', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it('leads to a call, its question and both eras', async () => {
    const { page } = await openWatched(browser, await startInspect([process.execPath, ISTHMUS, 'demo']));
    const tree = await treeOf(page);
    await tree.find('heading', /^Why modern\?$/);
    await tree.press('link', /^Tools/, 'Enter');
    await tree.press('link', /^confirm_delete/, 'Enter');
    await tree.find('heading', /^confirm_delete$/);
    await tree.press('textbox', /^filename/, 'n');
    await page.keyboard.type('otes.txt');
    await tree.press('button', /^Call in both eras$/, 'Enter');
    // The question is announced with its words, and it is told without a look at it.
    const question = await tree.find('alertdialog', /confirm_delete asks$/);
    expect(question.description?.value).toBe('Delete notes.txt?');
    await tree.find('StaticText', /^1 question waits\. The newest is from Isthmus demo\.$/);
    await tree.press('combobox', /^confirm$/, 't');
    await tree.press('button', /^Accept/, 'Enter');
    await tree.find('region', /^Lens$/);
    await tree.find('button', /^tools\/call id \d+ , client side, to the server/);
    await tree.find('button', /^result id \d+ , server side, to the client/);
    await tree.find('StaticText', /^a person answered/);
    await tree.press('link', /^Result$/, 'Enter');
    await tree.find('region', /^Call \d+$/);
    await tree.find('StaticText', /notes\.txt/);
    await tree.press('link', /^Timing$/, 'Enter');
    await tree.find('image', /^1 calls?, the longest took/);
    await tree.find('rowheader', /^confirm_delete$/);
  }, 120_000);
});

interface AxNode {
  readonly ignored: boolean;
  readonly role?: { readonly value?: string };
  readonly name?: { readonly value?: string };
  readonly description?: { readonly value?: string };
  readonly backendDOMNodeId?: number;
}

async function treeOf(page: Page) {
  const session: CDPSession = await page.context().newCDPSession(page);
  await session.send('Accessibility.enable');
  const find = async (role: string, name: RegExp): Promise<AxNode> => {
    let found: AxNode | undefined;
    await expect
      .poll(
        async () => {
          const { nodes } = (await session.send('Accessibility.getFullAXTree')) as {
            readonly nodes: readonly AxNode[];
          };
          found = nodes.find(
            (node) => !node.ignored && node.role?.value === role && name.test(node.name?.value ?? ''),
          );
          return found ? 'found' : `no ${role} ${String(name)}`;
        },
        { interval: 100 },
      )
      .toBe('found');
    return found!;
  };
  return {
    find,
    /** Puts the focus on a node, and presses a key. */
    async press(role: string, name: RegExp, key: string) {
      const { backendDOMNodeId } = await find(role, name);
      await session.send('DOM.focus', { backendNodeId: backendDOMNodeId! });
      await page.keyboard.press(key);
    },
  };
}

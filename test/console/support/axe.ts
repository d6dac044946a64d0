import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { axeViolations } from './in-page.mjs';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** axe-core finds no violation on the page as it is, light and dark. `screen`: its name where the test fails. */
export async function expectSound(page: Page, screen = new URL(page.url()).hash): Promise<void> {
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  await page.evaluate(AXE);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    expect([screen, colorScheme, await page.evaluate(axeViolations)]).toEqual([screen, colorScheme, []]);
  }
}

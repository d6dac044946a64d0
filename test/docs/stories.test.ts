/** Pages that are read from top to bottom do what they show, on the Node that runs this test. */
import { beforeAll, expect, it } from 'vitest';
import { ensureBuilt } from '../../scripts/setup.js';
import { STORIES } from './block-kinds.js';
import { playStory } from './story.js';

beforeAll(() => ensureBuilt());

it.each(STORIES)('N8: %s', { timeout: 600_000 }, async (page) => {
  const { files, ran, transcripts } = await playStory(page);
  expect(files.length + ran.length).toBeGreaterThan(0);
  for (const { place, line, shown, printed } of transcripts) expect(printed, `${place}: ${line}`).toBe(shown);
});

import { describe, expect, it } from 'vitest';
import { officialV1 } from './support/official-v1.js';
import { tellStory } from './support/story.js';
import { DEMO, open, smallTalk, tellVariations } from './support/variations.js';

tellStory(officialV1);
tellVariations(officialV1);

describe('the official v1 client with a server of one era', () => {
  it('is told by a modern-only server which versions there are (VER-009)', async () => {
    await expect(open(officialV1, [...DEMO, '--era', 'modern'])).rejects.toMatchObject({
      code: -32022,
      message: expect.stringContaining('2026-07-28'),
      data: { supported: ['2026-07-28'], requested: '2025-11-25' },
    });
  });

  it('works with a legacy-only server', async () => {
    const { session } = await open(officialV1, [...DEMO, '--era', 'legacy']);
    await smallTalk(session, '2025-11-25');
  });
});

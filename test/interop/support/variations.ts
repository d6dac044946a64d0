import { describe, expect, it, onTestFinished } from 'vitest';
import { judgeLife } from './judge.js';
import type { Peer, PeerOptions, Session } from './peer.js';
import { type Recording, record } from './recording.js';
import type { Json, Revision } from './revision.js';

/** A connection for one test; closed and reaped when it ends, however it ends. */
export async function open(
  peer: Peer,
  program: readonly string[],
  options?: PeerOptions,
): Promise<{ session: Session; recording: Recording }> {
  const recording = record(...(program as [string, ...string[]]));
  onTestFinished(() => recording.close());
  const session = await peer.connect(recording, options);
  onTestFinished(() => session.close());
  return { session, recording };
}

export const DEMO = ['bin/isthmus.js', 'demo'] as const;
const PAGED = ['test/interop/paged-server.mjs'] as const;

/** Shorter stories with other servers, or with a client that can do less. */
export function tellVariations(peer: Peer): void {
  describe(`${peer.title} with other servers`, () => {
    it('walks lists of several pages to their end (PAGE-001, PAGE-005)', async () => {
      const { session, recording } = await open(peer, PAGED);
      expect(names(await session.tools())).toEqual(['tool-a', 'tool-b', 'tool-c', 'tool-d', 'tool-e']);
      expect(names(await session.resources())).toEqual(['a', 'b', 'c']);
      expect(names(await session.templates())).toEqual(['a', 'b', 'c']);
      expect(names(await session.prompts())).toEqual(['prompt-a', 'prompt-b', 'prompt-c', 'prompt-d']);
      expect((await session.call('tool-e')).content).toEqual([{ type: 'text', text: 'e' }]);
      await session.close();
      const life = recording.life();
      const pages = (method: string) =>
        life.frames.filter(({ from, message }) => from === 'client' && message['method'] === method).length;
      expect(pages('tools/list')).toBe(3);
      expect(pages('resources/list')).toBe(2);
      expect(pages('resources/templates/list')).toBe(2);
      expect(pages('prompts/list')).toBe(2);
      expect(judgeLife(life, peer.revision)).toEqual([]);
      expect(session.complaints.map(String)).toEqual([]);
    });

    it('is never asked what it cannot answer (META-006, INIT-018)', async () => {
      const { session, recording } = await open(peer, DEMO, { capabilities: {} });
      for (const [tool, capability] of [
        ['test_elicitation', 'elicitation'],
        ['test_sampling', 'sampling'],
        ['test_roots', 'roots'],
        ['test_input_required_result_elicitation', 'elicitation'],
      ] as const) {
        if (peer.era === 'modern') {
          // META-008: the error names what is missing.
          await expect(session.call(tool)).rejects.toMatchObject({
            code: -32021,
            data: { requiredCapabilities: { [capability]: expect.anything() } },
          });
        } else {
          const { isError, content } = await session.call(tool);
          expect({ tool, isError }).toEqual({ tool, isError: true });
          expect(content[0]?.['text']).toContain(capability);
        }
      }
      expect((await session.call('echo', { text: 'still here' })).content).toEqual([
        { type: 'text', text: 'still here' },
      ]);
      await session.close();
      expect(judgeLife(recording.life(), peer.revision)).toEqual([]);
    });

    it('is refused url elicitation when it declared forms only', async () => {
      const { session } = await open(peer, DEMO, { capabilities: { elicitation: { form: {} } } });
      if (peer.era === 'modern') {
        await expect(session.call('test_url_elicitation')).rejects.toMatchObject({
          code: -32021,
          data: { requiredCapabilities: { elicitation: { url: {} } } },
        });
      } else {
        expect((await session.call('test_url_elicitation')).isError).toBe(true);
      }
      expect((await session.call('test_elicitation')).content[0]?.['text']).toContain('action=accept');
    });
  });
}

/** A short talk that shows the connection works in the era it should. */
export async function smallTalk(session: Session, revision: Revision): Promise<void> {
  expect(session.revision).toBe(revision);
  expect((await session.call('echo', { text: 'hello' })).content).toEqual([{ type: 'text', text: 'hello' }]);
  expect((await session.call('test_elicitation')).content[0]?.['text']).toContain('action=accept');
}

function names(items: readonly Json[]): unknown[] {
  return items.map(({ name }) => name);
}

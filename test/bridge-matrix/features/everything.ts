import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Json, Session } from '../clients/session.js';
import { callAndCancel, type Plays, soon, textOf, told } from './feature.js';

/**
 * It asks for roots 350 ms after its start. On a shared process whatever is called just then would be taken for the
 * one that asks, and remembered for it.
 */
export async function awaitOwnQuestion(session: Session): Promise<void> {
  await session.tools();
  await pause(700);
}

/** The features with `@modelcontextprotocol/server-everything`, as far as it lets them be seen. */
export const withEverything: Plays = {
  async list(session) {
    expect(session.serverName).toBe('mcp-servers/everything');
    expect(session.instructions).toContain('Everything Server');
    // Tools that ask are there for clients that can answer.
    expect(await session.tools()).toEqual(
      expect.arrayContaining([
        'echo',
        'trigger-elicitation-request',
        'trigger-sampling-request',
        'get-roots-list',
      ]),
    );
    expect(await session.resources()).toContain('demo://resource/static/document/features.md');
    expect(await session.templates()).toContain('demo://resource/dynamic/text/{resourceId}');
    expect(await session.prompts()).toContain('completable-prompt');
  },

  async call(session) {
    expect(textOf(await session.call('echo', { message: 'héllo' }))).toBe('Echo: héllo');
    expect(textOf(await session.call('get-sum', { a: 2, b: 3 }))).toBe('The sum of 2 and 3 is 5.');
    expect(await session.call('get-structured-content', { location: 'Chicago' })).toMatchObject({
      structuredContent: { temperature: 36, conditions: 'Light rain / drizzle', humidity: 82 },
    });
  },

  async progress(session) {
    // The last step leaves together with the answer, and the official clients drop what they read with it, which
    // a busy machine can make of any two messages: so they may need several tries.
    await soon(async () => {
      const seen: Json[] = [];
      await session.call(LONG, { duration: 0.15, steps: 3 }, { onprogress: (one) => seen.push(one) });
      expect(seen.slice(0, 2)).toMatchObject([
        { progress: 1, total: 3 },
        { progress: 2, total: 3 },
      ]);
    });
  },

  async cancel(session) {
    // The tool goes on, whatever the client says: what can be seen is that nobody minds.
    await callAndCancel(session, LONG, { duration: 2, steps: 40 });
    expect(textOf(await session.call('echo', { message: 'after' }))).toBe('Echo: after');
  },

  async elicit(session) {
    const result = textOf(await session.call('trigger-elicitation-request'));
    expect(result).toContain('- Name: Ada of Please provide inputs for the following fields:');
    expect(session.questions.at(-1)).toMatchObject({
      requestedSchema: { properties: { titledMultipleSelectEnum: { type: 'array' } }, required: ['name'] },
    });
  },

  async sample(session) {
    const result = textOf(await session.call('trigger-sampling-request', { prompt: 'hi' }));
    expect(result).toContain('"model": "parrot"');
    expect(result).toContain('context: hi!');
  },

  async roots(session) {
    expect(textOf(await session.call('get-roots-list'))).toContain('URI: file:///home/ada');
  },

  async log(session) {
    const start = session.notifications.length;
    await session.setLogLevel('debug');
    await session.call('toggle-simulated-logging');
    try {
      await soon(() =>
        expect(told(session, 'notifications/message', start)).toContainEqual(
          expect.objectContaining({ data: expect.stringMatching(/level.message/) }),
        ),
      );
    } finally {
      await session.call('toggle-simulated-logging');
    }
  },

  async complete(session) {
    const ref = { type: 'ref/prompt', name: 'completable-prompt' } as const;
    expect(await session.complete(ref, 'department', 'S')).toEqual(['Sales', 'Support']);
    expect(await session.prompt('completable-prompt', { department: 'Sales', name: 'Eve' })).toMatchObject([
      { role: 'user', content: { text: 'Please promote Eve to the head of the Sales team.' } },
    ]);
  },

  async read(session) {
    expect(await session.read(DYNAMIC)).toMatchObject([
      { uri: DYNAMIC, mimeType: 'text/plain', text: expect.stringContaining('Resource 1') },
    ]);
  },

  async subscribe(session) {
    const start = session.notifications.length;
    const subscription = await session.watch({ uri: DYNAMIC });
    await session.call('toggle-subscriber-updates');
    try {
      await soon(() =>
        expect(told(session, 'notifications/resources/updated', start)).toMatchObject([{ uri: DYNAMIC }]),
      );
    } finally {
      await session.call('toggle-subscriber-updates');
    }
    await subscription.stop();
  },

  async 'list change'(session) {
    const start = session.notifications.length;
    const subscription = await session.watch({ list: 'resources' });
    const name = `${randomUUID()}.gz`;
    await session.call('gzip-file-as-resource', { name, data: 'data:text/plain,hi' });
    await soon(() =>
      expect(told(session, 'notifications/resources/list_changed', start).length).toBeGreaterThan(0),
    );
    expect(await session.resources()).toContain(`demo://resource/session/${name}`);
    await subscription.stop();
  },

  async error(session) {
    expect(await errorText(session, 'missing', {})).toContain('Tool missing not found');
    expect(await errorText(session, 'get-sum', { a: 'two', b: 3 })).toContain('Input validation error');
    await expect(session.read('demo://missing')).rejects.toMatchObject({ code: -32602 });
  },

  'outside calls': 'server-everything asks on its own only once, right after its start.',
};

const LONG = 'trigger-long-running-operation';
const DYNAMIC = 'demo://resource/dynamic/text/1';

async function errorText(session: Session, tool: string, args: Json): Promise<string> {
  const result = await session.call(tool, args);
  expect(result.isError).toBe(true);
  return textOf(result);
}

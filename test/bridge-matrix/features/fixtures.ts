import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { friendlyAnswers, type Json, type Session } from '../clients/session.js';
import { callAndCancel, type Plays, soon, textOf, told } from './feature.js';

/** The features with the fixture servers, which offer the same on both official SDKs. */
const shared: Omit<Plays, 'outside calls'> = {
  async list(session) {
    expect(session.serverName).toMatch(/^fixture-v[12]$/);
    expect(session.instructions).toBe('Ask for anything.');
    expect((await session.tools()).filter((name) => !name.endsWith('_later'))).toEqual(TOOLS);
    expect(await session.resources()).toEqual(['memo://one', 'memo://watched', 'memo://forbidden']);
    expect(await session.templates()).toEqual(['note://{name}']);
    expect(await session.prompts()).toEqual(['greet']);
  },

  async call(session) {
    expect(await session.call('echo', { text: 'héllo' })).toMatchObject({
      content: [{ type: 'text', text: 'héllo' }],
    });
    expect(await session.call('add', { a: 2, b: 3 })).toMatchObject({
      content: [{ type: 'text', text: '5' }],
      structuredContent: { sum: 5 },
    });
    const many = Array.from({ length: 10 }, (_, a) => session.call('add', { a, b: 1 }));
    expect((await Promise.all(many)).map(textOf)).toEqual([
      '1',
      '2',
      '3',
      '4',
      '5',
      '6',
      '7',
      '8',
      '9',
      '10',
    ]);
  },

  async progress(session) {
    // The official clients drop a progress that they read together with the answer, which a busy machine can
    // make of any two messages: so they may need several tries.
    await soon(async () => {
      const seen: Json[] = [];
      expect(textOf(await session.call('report', {}, { onprogress: (one) => seen.push(one) }))).toBe(
        'reported',
      );
      expect(seen).toMatchObject([
        { progress: 1, total: 3, message: 'step 1' },
        { progress: 2, total: 3, message: 'step 2' },
        { progress: 3, total: 3, message: 'step 3' },
      ]);
    });
  },

  async cancel(session) {
    const key = randomUUID();
    await callAndCancel(session, 'slow', { key });
    await soon(async () => expect(textOf(await session.call('cancelled'))).toContain(key));
  },

  async elicit(session) {
    const ask = async (message: string) => textOf(await session.call('ask_user', { message }));
    expect(await ask('here')).toBe('accept Ada of here');
    expect(session.questions.at(-1)).toMatchObject({
      message: 'here',
      requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    });
    expect(textOf(await session.call('ask_twice'))).toBe('Ada of first Ada of second');
    expect(await Promise.all([ask('one'), ask('two'), ask('three')])).toEqual([
      'accept Ada of one',
      'accept Ada of two',
      'accept Ada of three',
    ]);
    session.answers.elicit = () => ({ action: 'decline' });
    expect(await ask('declined')).toBe('decline');
    session.answers.elicit = () => ({ action: 'cancel' });
    expect(await ask('cancelled')).toBe('cancel');
    session.answers = friendlyAnswers();
  },

  async sample(session) {
    expect(textOf(await session.call('ask_model', { prompt: 'hi' }))).toBe('parrot says hi!');
    expect(session.questions.at(-1)).toMatchObject({
      messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }],
      maxTokens: 10,
    });
  },

  async roots(session) {
    expect(textOf(await session.call('ask_roots'))).toBe('file:///home/ada');
  },

  async log(session) {
    const start = session.notifications.length;
    const logged = () => told(session, 'notifications/message', start);
    const debug = { level: 'debug', data: { said: 'debug' }, logger: 'fixture' };
    const error = { level: 'error', data: { said: 'error' }, logger: 'fixture' };
    if (session.era === 'modern') {
      // LOG-002: who names no level hears nothing.
      await session.call('log');
      await roundTrip(session);
      expect(logged()).toEqual([]);
    }
    await session.setLogLevel('warning');
    await session.call('log');
    await soon(() => expect(logged()).toMatchObject([error]));
    await session.setLogLevel('debug');
    await session.call('log');
    await soon(() => expect(logged()).toMatchObject([error, debug, error]));
  },

  async complete(session) {
    expect(await session.complete({ type: 'ref/prompt', name: 'greet' }, 'name', 'A')).toEqual([
      'Ada',
      'Alan',
    ]);
    expect(await session.complete({ type: 'ref/resource', uri: 'note://{name}' }, 'name', 'b')).toEqual([
      'bob',
    ]);
    expect(await session.prompt('greet', { name: 'Ada' })).toMatchObject([
      { role: 'user', content: { type: 'text', text: 'Hello Ada' } },
    ]);
  },

  async read(session) {
    expect(await session.read('memo://one')).toMatchObject([
      { uri: 'memo://one', mimeType: 'text/plain', text: 'one' },
    ]);
    expect(await session.read('note://ada')).toMatchObject([{ uri: 'note://ada', text: 'a note of ada' }]);
  },

  async subscribe(session) {
    const start = session.notifications.length;
    const updates = () => told(session, 'notifications/resources/updated', start);
    const subscription = await session.watch({ uri: 'memo://watched' });
    await session.call('touch', { uri: 'memo://one' });
    await session.call('touch', { uri: 'memo://watched' });
    await soon(() => expect(updates()).toMatchObject([{ uri: 'memo://watched' }]));
    await subscription.stop();
    await roundTrip(session);
    await session.call('touch', { uri: 'memo://watched' });
    await roundTrip(session);
    expect(updates()).toHaveLength(1);
  },

  async 'list change'(session) {
    const start = session.notifications.length;
    const changes = () => told(session, 'notifications/tools/list_changed', start).length;
    const subscription = await session.watch({ list: 'tools' });
    let before: number;
    await session.call('toggle_extra', { on: true });
    try {
      await soon(() => expect(changes()).toBeGreaterThan(0));
      expect(await session.tools()).toContain('extra');
      expect(textOf(await session.call('extra'))).toBe('extra');
    } finally {
      before = changes();
      await session.call('toggle_extra', { on: false });
    }
    await soon(() => expect(changes()).toBeGreaterThan(before));
    expect(await session.tools()).not.toContain('extra');
    await subscription.stop();
  },

  async error(session) {
    expect(await session.call('fail')).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: 'on purpose' }],
    });
    expect(await session.call('add', { a: 'two', b: 3 })).toMatchObject({ isError: true });
    await expect(session.read('memo://forbidden')).rejects.toMatchObject({
      code: 4003,
      message: expect.stringContaining('forbidden'),
      data: { why: 'on purpose' },
    });
    const missing = await session.read('memo://missing').catch((error: unknown) => error);
    // ERR-006, ERR-022: the legacy era has a code of its own for it, which official servers do not use.
    expect(session.era === 'modern' ? [-32602] : [-32602, -32002]).toContain(
      (missing as { code?: number }).code,
    );
    // A tool that is not there is a result on v1, and an error on v2.
    const unknown = session.call('missing').then(textOf, String);
    expect(await unknown).toContain('Tool missing not found');
  },
};

/** The fixture on the v1 SDK also speaks up when nobody has called it. */
export const withV1: Plays = {
  ...shared,
  async 'outside calls'(session) {
    const start = session.notifications.length;
    const message = randomUUID();
    await session.setLogLevel('debug');
    await session.call('ask_later', { message });
    // It asks after 20 ms. What is called meanwhile could be taken for what it asks about.
    await pause(300);
    const answer = await soon(async () => {
      const said = textOf(await session.call('asked_later', { message }));
      expect(said).not.toBe('');
      return said;
    });
    expect(answer, `the server heard: ${answer}`).toBe(`accept Ada of ${message}`);
    await soon(() =>
      expect(told(session, 'notifications/message', start)).toMatchObject([{ data: { said: message } }]),
    );
  },
};

export const withV2: Plays = {
  ...shared,
  'outside calls': 'A modern server says nothing outside of calls but what is listened for.',
};

const TOOLS = [
  'echo',
  'add',
  'fail',
  'report',
  'slow',
  'cancelled',
  'log',
  'ask_user',
  'ask_twice',
  'ask_model',
  'ask_roots',
  'toggle_extra',
  'touch',
];

/** What was sent before has arrived, as far as one connection can tell. */
async function roundTrip(session: Session): Promise<void> {
  await session.call('echo', { text: 'round trip' });
}

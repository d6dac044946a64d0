import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../support/until.js';
import { judgeLife } from './judge.js';
import { friendlyAnswers, type Peer, type Session } from './peer.js';
import { type Frame, isAlive, type Recording, record } from './recording.js';
import type { Json } from './revision.js';

/** What every official client must be able to do with our demo server, whatever its era and the way to it. */
export function tellStory(peer: Peer, way: Way = OVER_STDIO): void {
  const modern = peer.era === 'modern';
  const { isHttp } = way;

  describe(`${peer.title} with isthmus demo${way.title}`, () => {
    let recording: Recording;
    let session: Session;
    let complaintsAtTheEnd = 0;

    beforeAll(async () => {
      recording = await way.open();
      session = await peer.connect(recording);
    });

    afterAll(async () => {
      await session?.close();
      await recording.close();
    });

    const text = async (name: string, args?: Json) => {
      const { content } = await session.call(name, args);
      return content.map((block) => block['text']).join('\n');
    };
    const sent = (from: Frame['from']) =>
      recording
        .life()
        .frames.filter((frame) => frame.from === from)
        .map(({ message }) => message);
    /** Passes when the server has done all it had to do before: it answers in order. */
    const roundTrip = () => text('echo', { text: 'round trip' });
    /** Over HTTP unsolicited messages have a stream of their own, and may come a moment after an answer. */
    const soon = (check: () => void) => (isHttp ? eventually(check) : check());

    it(`agrees on ${peer.revision} and learns who the server is`, async () => {
      expect(await text('echo', { text: 'hello' })).toBe('hello');
      expect(session.revision).toBe(peer.revision);
      expect(session.serverInfo).toEqual({ name: 'isthmus-demo', version: '1.0.0', title: 'Isthmus demo' });
      expect(session.instructions).toBe('A server to try things on. Start with the tool echo.');
      expect(session.capabilities).toEqual({
        logging: {},
        completions: {},
        prompts: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        tools: { listChanged: true },
        ...(modern && { extensions: { 'io.modelcontextprotocol/tasks': {} } }),
        ...(peer.revision === '2025-11-25' && {
          tasks: { cancel: {}, requests: { tools: { call: {} } } },
        }),
      });
    });

    it('lists tools with their schemas and annotations', async () => {
      const tools = await session.tools();
      expect(tools.length).toBeGreaterThan(25);
      expect(tools.find(({ name }) => name === 'add')).toEqual({
        name: 'add',
        description: 'Adds two numbers',
        inputSchema: {
          type: 'object',
          properties: {
            a: { type: 'number', description: 'The first number' },
            b: { type: 'number', description: 'The second number' },
          },
          required: ['a', 'b'],
        },
        outputSchema: { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] },
        annotations: { readOnlyHint: true, idempotentHint: true },
      });
      expect(tools.find(({ name }) => name === 'json_schema_2020_12_tool')?.['inputSchema']).toMatchObject({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        $defs: { address: { $anchor: 'addressDef' } },
        additionalProperties: false,
      });
    });

    it('lists resources, templates and prompts', async () => {
      expect((await session.resources()).map(({ uri }) => uri)).toEqual([
        'demo://clock',
        'test://static-text',
        'test://static-binary',
        'test://watched-resource',
      ]);
      expect(await session.templates()).toEqual([
        {
          uriTemplate: 'test://template/{id}/data',
          name: 'Resource Template',
          description: 'Data by id',
          mimeType: 'application/json',
        },
      ]);
      const prompts = await session.prompts();
      expect(prompts.map(({ name }) => name)).toContain('test_input_required_result_prompt');
      expect(prompts.find(({ name }) => name === 'test_prompt_with_arguments')).toEqual({
        name: 'test_prompt_with_arguments',
        description: 'A prompt with two arguments',
        arguments: [
          { name: 'arg1', description: 'First argument', required: true },
          { name: 'arg2', description: 'Second argument', required: true },
        ],
      });
    });

    it('calls a tool and gets text', async () => {
      expect(await session.call('echo', { text: 'grüße 🌍\u2028\n' })).toEqual({
        content: [{ type: 'text', text: 'grüße 🌍\u2028\n' }],
      });
    });

    it('calls a tool and gets structured content that its own validator accepts (TOOL-012, TOOL-014)', async () => {
      expect(await session.call('add', { a: 2, b: 3 })).toEqual({
        content: [{ type: 'text', text: '{"sum":5}' }],
        structuredContent: { sum: 5 },
      });
    });

    it('gets every kind of content block', async () => {
      expect((await session.call('test_image_content')).content).toMatchObject([
        { type: 'image', mimeType: 'image/png' },
      ]);
      expect((await session.call('test_audio_content')).content).toMatchObject([
        { type: 'audio', mimeType: 'audio/wav' },
      ]);
      expect((await session.call('test_multiple_content_types')).content).toMatchObject([
        { type: 'text' },
        { type: 'image' },
        { type: 'resource', resource: { uri: 'test://embedded-resource', mimeType: 'text/plain' } },
      ]);
    });

    it('gets a failed tool as a result with isError, not as a protocol error (TOOL-017)', async () => {
      expect(await session.call('test_error_handling')).toEqual({
        content: [{ type: 'text', text: 'This tool intentionally returns an error for testing' }],
        isError: true,
      });
    });

    it('gets arguments that the schema rejects as a result with isError (TOOL-018)', async () => {
      const { isError, content } = await session.call('add', { a: 'two', b: 3 });
      expect(isError).toBe(true);
      expect(content[0]?.['text']).toMatch(/a\b/);
    });

    it('gets -32602 for a tool, a prompt and a prompt argument that do not exist (TOOL-019)', async () => {
      await expect(session.call('no_such_tool')).rejects.toMatchObject({ code: -32602 });
      await expect(session.prompt('no_such_prompt')).rejects.toMatchObject({ code: -32602 });
      await expect(session.prompt('test_prompt_with_arguments', { arg1: 'only' })).rejects.toMatchObject({
        code: -32602,
      });
    });

    it('reads text, binary and templated resources', async () => {
      expect(await session.read('test://static-text')).toEqual([
        {
          uri: 'test://static-text',
          mimeType: 'text/plain',
          text: 'This is the content of the static text resource.',
        },
      ]);
      const [binary] = await session.read('test://static-binary');
      expect(binary).toMatchObject({ uri: 'test://static-binary', mimeType: 'image/png' });
      expect(
        Buffer.from(binary?.['blob'] as string, 'base64')
          .subarray(1, 4)
          .toString(),
      ).toBe('PNG');
      expect(await session.read('test://template/123/data')).toEqual([
        {
          uri: 'test://template/123/data',
          mimeType: 'application/json',
          text: '{"id":"123","templateTest":true,"data":"Data for ID: 123"}',
        },
      ]);
    });

    it(`is answered ${modern ? '-32602 (ERR-006)' : '-32002 (ERR-022)'} for a resource that does not exist`, async () => {
      await expect(session.read('test://nowhere')).rejects.toThrow('test://nowhere');
      // The v2 client shows -32602 to its user in either era; what counts is the frame.
      expect(sent('server').at(-1)).toMatchObject({
        error: { code: modern ? -32602 : -32002, data: { uri: 'test://nowhere' } },
      });
    });

    it('gets prompts with arguments, an image and an embedded resource', async () => {
      expect(await session.prompt('test_prompt_with_arguments', { arg1: 'one', arg2: 'two' })).toEqual([
        {
          role: 'user',
          content: { type: 'text', text: "Prompt with arguments: arg1='one', arg2='two'" },
        },
      ]);
      expect(await session.prompt('test_prompt_with_image')).toMatchObject([
        { role: 'user', content: { type: 'image', mimeType: 'image/png' } },
        { role: 'user', content: { type: 'text' } },
      ]);
      expect(
        await session.prompt('test_prompt_with_embedded_resource', { resourceUri: 'test://static-text' }),
      ).toMatchObject([
        { content: { type: 'resource', resource: { uri: 'test://static-text' } } },
        { content: { type: 'text' } },
      ]);
    });

    it('completes a prompt argument and a template variable', async () => {
      const prompt = { type: 'ref/prompt', name: 'test_prompt_with_arguments' } as const;
      expect(await session.complete(prompt, 'arg1', 'par')).toEqual(['paris', 'park', 'party']);
      expect(await session.complete(prompt, 'arg1', 'part')).toEqual(['party']);
      const template = { type: 'ref/resource', uri: 'test://template/{id}/data' } as const;
      expect(await session.complete(template, 'id', '12')).toEqual(['123', '124']);
    });

    it('is told of progress while a call runs (PROG-004)', async () => {
      const steps = [
        { progress: 0, total: 100, message: 'Completed step 0 of 100' },
        { progress: 50, total: 100, message: 'Completed step 50 of 100' },
        { progress: 100, total: 100, message: 'Completed step 100 of 100' },
      ];
      // The official clients drop a progress that they read together with the answer (see official-v2.test.ts),
      // which a busy machine makes of two writes; so they may need several tries. The wire needs none.
      await eventually(async () => {
        const seen: Json[] = [];
        const result = await session.call('test_tool_with_progress', {}, { onprogress: (p) => seen.push(p) });
        expect(result.content).toEqual([{ type: 'text', text: 'Tool with progress executed successfully' }]);
        const told = sent('server').slice(-4);
        expect(told.at(-1)).toHaveProperty('result');
        expect(told.slice(0, 3)).toMatchObject(
          steps.map((params) => ({ method: 'notifications/progress', params })),
        );
        expect(seen).toEqual(steps);
      });
    });

    it('cancels a call, and the server says no more about it (CANC-007, STDIO-014)', async () => {
      const abort = new AbortController();
      const call = session.call(
        'sleep',
        { ms: 60_000 },
        { signal: abort.signal, onprogress: () => abort.abort('enough') },
      );
      await expect(call).rejects.toThrow();
      // The server reads in order: once it has answered this, it has seen the cancellation.
      await roundTrip();
      const request = sent('client').find((frame) => isCall(frame, 'sleep'))!;
      const notice = sent('client').find(({ method }) => method === 'notifications/cancelled');
      // HTTP-024: there a modern client hangs up instead.
      if (modern && isHttp) expect(notice).toBeUndefined();
      else expect(notice).toMatchObject({ params: { requestId: request['id'] } });
      const token = (request['params'] as { _meta: Json })._meta['progressToken'];
      const told = () =>
        sent('server').filter(
          ({ method, params }) =>
            method === 'notifications/progress' && (params as Json)['progressToken'] === token,
        ).length;
      const before = told();
      expect(before).toBeGreaterThan(0);
      // As long as it takes the server to report several times, were it still at it.
      await session.call('sleep', { ms: 350 });
      expect(told()).toBe(before);
      expect(sent('server').filter(({ id }) => id === request['id'])).toEqual([]);
    });

    it('answers a form: accept, decline and cancel reach the tool', async () => {
      session.answers = {
        ...friendlyAnswers(),
        elicit: () => ({ action: 'accept', content: { username: 'ada', email: 'ada@example.com' } }),
      };
      expect(await text('test_elicitation', { message: 'Who are you?' })).toBe(
        'Elicitation completed: action=accept, content={"username":"ada","email":"ada@example.com"}',
      );
      expect(session.questions.at(-1)).toMatchObject({
        method: 'elicitation/create',
        params: {
          message: 'Who are you?',
          requestedSchema: { type: 'object', properties: { username: { type: 'string' } } },
        },
      });
      session.answers.elicit = () => ({ action: 'decline' });
      expect(await text('test_elicitation')).toBe('Elicitation completed: action=decline, content={}');
      session.answers.elicit = () => ({ action: 'cancel' });
      expect(await text('test_elicitation')).toBe('Elicitation completed: action=cancel, content={}');
      session.answers = friendlyAnswers();
    });

    it('gives up a call while its user is still thinking, and the server takes the question back', async () => {
      const abort = new AbortController();
      session.answers.elicit = () => {
        abort.abort('enough');
        // Between two modern rounds the official client waits for its handler, whatever the signal says.
        return modern ? Promise.reject(new Error('the user went away')) : new Promise(() => {});
      };
      await expect(session.call('test_elicitation', {}, { signal: abort.signal })).rejects.toThrow();
      await roundTrip();
      await soon(() => {
        const asked = sent('server').findLast(({ method }) => method === 'elicitation/create');
        const takenBack = sent('server').filter(({ method }) => method === 'notifications/cancelled');
        // In the modern era the question was the answer to the call: there is nothing left to take back.
        if (modern) expect([asked, takenBack]).toEqual([undefined, []]);
        else expect(takenBack).toMatchObject([{ params: { requestId: asked?.['id'] } }]);
      });
      session.answers = friendlyAnswers();
    });

    it('answers forms with defaults and every kind of choice', async () => {
      session.answers.elicit = () => ({
        action: 'accept',
        content: { untitledSingle: 'option1', titledMulti: ['value1', 'value2'] },
      });
      expect(await text('test_elicitation_sep1330_enums')).toBe(
        'Elicitation completed: action=accept, content={"untitledSingle":"option1","titledMulti":["value1","value2"]}',
      );
      session.answers.elicit = () => ({ action: 'accept', content: { age: 36, verified: false } });
      expect(await text('test_elicitation_sep1034_defaults')).toBe(
        'Elicitation completed: action=accept, content={"age":36,"verified":false}',
      );
      expect(session.questions.at(-1)?.params).toMatchObject({
        requestedSchema: { properties: { score: { type: 'number', default: 95.5 } } },
      });
      session.answers = friendlyAnswers();
    });

    it('is sent to a page by url elicitation (ELIC-007)', async () => {
      expect(await text('test_url_elicitation')).toBe('URL elicitation: action=accept');
      const { params } = session.questions.at(-1)!;
      expect(params).toMatchObject({
        mode: 'url',
        message: 'Please sign in',
        url: 'https://example.com/sign-in',
      });
      // 2025-11-25 demands an id, 2026-07-28 has none.
      if (modern) expect(params).not.toHaveProperty('elicitationId');
      else expect(params['elicitationId']).toMatch(/./);
    });

    it('samples its model for the server', async () => {
      session.answers.sample = (params) =>
        `You said: ${(params['messages'] as { content: { text: string } }[])[0]?.content.text}`;
      expect(await text('test_sampling', { prompt: 'Hi' })).toBe('LLM response: You said: Hi');
      session.answers = friendlyAnswers();
    });

    it('lists its roots for the server', async () => {
      session.answers.roots = () => [{ uri: 'file:///a' }, { uri: 'file:///b', name: 'b' }];
      expect(await text('test_roots')).toBe('file:///a\nfile:///b');
      session.answers = friendlyAnswers();
    });

    it('answers replay-style rounds: one question, several at once, several rounds, with state', async () => {
      expect(await text('test_input_required_result_elicitation')).toBe('Hello, Ada!');
      expect(await text('test_input_required_result_sampling')).toBe('LLM response: Paris');
      expect(await text('test_input_required_result_list_roots')).toBe('file:///home/ada');
      expect(await text('test_input_required_result_request_state')).toBe('state-ok');
      const all = 'Name: Ada\nLLM response: Paris\nRoots: file:///home/ada';
      expect(await text('test_input_required_result_multiple_inputs')).toBe(all);
      const before = session.questions.length;
      expect(await text('test_input_required_result_multi_round')).toBe('Both rounds completed');
      expect(session.questions.length - before).toBe(2);
      expect(await text('test_input_required_result_capabilities')).toBe(all);
      expect(await session.prompt('test_input_required_result_prompt')).toEqual([
        { role: 'user', content: { type: 'text', text: 'Write to Ada.' } },
      ]);
    });

    it('answers interactive calls that run at the same time, each with its own answer', async () => {
      session.answers.elicit = (params) => ({
        action: 'accept',
        content: { username: `for ${String(params['message'])}` },
      });
      const names = ['a', 'b', 'c', 'd'];
      expect(await Promise.all(names.map((name) => text('test_elicitation', { message: name })))).toEqual(
        names.map((name) => `Elicitation completed: action=accept, content={"username":"for ${name}"}`),
      );
      session.answers = friendlyAnswers();
    });

    it(
      modern
        ? 'gets logs only for a call that asks for them with logLevel (LOG-002)'
        : 'gets logs of the level that it set with logging/setLevel (LOG-010)',
      async () => {
        const logs = () => session.notifications.filter(({ method }) => method === 'notifications/message');
        const wanted = [
          { level: 'info', data: 'Tool execution started' },
          { level: 'info', data: 'Tool processing data' },
          { level: 'info', data: 'Tool execution completed' },
        ];
        if (!modern) await session.setLogLevel('warning');
        await session.call('test_tool_with_logging');
        await roundTrip();
        expect(logs()).toEqual([]);
        if (!modern) await session.setLogLevel('info');
        await session.call('test_tool_with_logging', {}, modern ? { logLevel: 'info' } : {});
        await eventually(() => expect(logs()).toHaveLength(3));
        expect(logs().map(({ params }) => params)).toEqual(wanted);
        if (modern) {
          await session.call('test_tool_with_logging', {}, { logLevel: 'warning' });
          await roundTrip();
          expect(logs()).toHaveLength(3);
        }
      },
    );

    it(
      modern
        ? 'hears of changes while it listens, and of none before or after (SUB-002, SUB-008)'
        : 'hears of the resource while it is subscribed, and always of the tool list (SUB-018, SUB-019)',
      async () => {
        const UPDATED = 'notifications/resources/updated';
        const CHANGED = 'notifications/tools/list_changed';
        const heard = (method: string) => session.notifications.filter((one) => one['method'] === method);
        const toldBy = (method: string) => sent('server').filter((one) => one['method'] === method).length;

        await session.call('touch');
        await roundTrip();
        expect(toldBy(UPDATED)).toBe(0);
        await soon(() => expect(toldBy(CHANGED) > 0).toBe(!modern));

        const elsewhere = await session.subscribe('test://watched-resource');
        await session.call('touch');
        await session.call('test_trigger_prompt_change');
        await roundTrip();
        expect(toldBy(UPDATED)).toBe(0);
        await soon(() => expect(toldBy('notifications/prompts/list_changed') > 0).toBe(!modern));
        await elsewhere.stop();
        await roundTrip();
        const unsolicited = toldBy(CHANGED);

        const subscription = await session.subscribe('demo://clock');
        await session.call('touch');
        await eventually(() => expect(heard(UPDATED)).toHaveLength(1));
        await eventually(() => expect(heard(CHANGED).length).toBeGreaterThan(unsolicited));
        expect(heard(UPDATED)[0]).toMatchObject({ params: { uri: 'demo://clock' } });
        if (modern) {
          const listen = sent('client').findLast(({ method }) => method === 'subscriptions/listen')!;
          const stream = sent('server').filter((frame) => subscriptionId(frame) === listen['id']);
          expect(stream.map(({ method }) => method)).toEqual([
            'notifications/subscriptions/acknowledged',
            ...Array(toldBy(CHANGED) - unsolicited).fill(CHANGED),
            UPDATED,
          ]);
        }

        await subscription.stop();
        await roundTrip();
        const [updated, changed] = [toldBy(UPDATED), toldBy(CHANGED)];
        await session.call('touch');
        await roundTrip();
        await soon(() => expect(toldBy(CHANGED) > changed).toBe(!modern));
        expect(toldBy(UPDATED)).toBe(updated);
      },
    );

    it('closes, and the server ends by itself with exit code 0 and leaves no process behind (LIFE-003)', async () => {
      const listening = modern ? await session.subscribe('demo://clock') : undefined;
      // Over HTTP the server has a life of its own, and it is the one that says goodbye.
      // Except in 2024, when an end that the server made was an error.
      if (recording.http?.kind === 'sse') await session.close();
      complaintsAtTheEnd = session.complaints.length;
      await recording.http?.stop();
      await session.close();
      const life = recording.life();
      expect(life.exit).toEqual({ code: 0, signal: null });
      expect(life.signals).toEqual([]);
      for (const { pid } of recording.lives()) await eventually(() => expect(isAlive(pid)).toBe(false));
      if (listening) {
        // SUB-012: an open listen gets its closing result.
        const listen = sent('client').findLast(({ method }) => method === 'subscriptions/listen')!;
        expect(sent('server').filter(({ id }) => id === listen['id'])).toMatchObject([
          { result: { resultType: 'complete' } },
        ]);
      }
    });

    it(`sent only frames that ${peer.revision} knows to the last member`, () => {
      const lives = recording.lives();
      expect(lives.length).toBeGreaterThan(0);
      expect(recording.life().frames.length).toBeGreaterThan(100);
      // A probe on a sibling process is a modern question, whatever follows.
      const talkedTo = recording.life();
      for (const life of lives) {
        expect(judgeLife(life, life.pid === talkedTo.pid ? peer.revision : '2026-07-28')).toEqual([]);
      }
    });

    if (modern) {
      it('names itself in every result (META-010)', () => {
        const anonymous = sent('server').filter(
          ({ result }) => result && !meta(result as Json)['io.modelcontextprotocol/serverInfo'],
        );
        expect(anonymous).toEqual([]);
      });
    }

    it('never gave the client anything to complain about', () => {
      expect(complaintsOf(session, complaintsAtTheEnd)).toEqual([]);
    });
  });
}

/** How clients get to the demo server. */
export interface Way {
  /** Behind the title of the story. */
  readonly title: string;
  readonly isHttp: boolean;
  open(): Recording | Promise<Recording>;
}

const OVER_STDIO: Way = { title: '', isHttp: false, open: () => record('bin/isthmus.js', 'demo') };

/**
 * Without those about a progress that came with its answer, or a stream that it left: the client's own doing.
 * Nor those of a client that looks for a server which was told to end, after so many complaints.
 */
export function complaintsOf(session: Session, untilTheEnd = session.complaints.length): string[] {
  return session.complaints
    .map(String)
    .filter((text, index) => index < untilTheEnd || !text.includes('fetch failed'))
    .filter((text) => !text.includes('notification for an unknown token') && !text.startsWith('AbortError'));
}

function meta(holder: Json | undefined): Json {
  return (holder?.['_meta'] ?? {}) as Json;
}

function subscriptionId(frame: Json): unknown {
  return meta(frame['params'] as Json | undefined)['io.modelcontextprotocol/subscriptionId'];
}

function isCall(frame: Json, tool: string): boolean {
  return frame['method'] === 'tools/call' && (frame['params'] as Json)['name'] === tool;
}

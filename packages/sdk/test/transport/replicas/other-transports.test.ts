import { describe, expect, it } from 'vitest';
import { createServer, inputRequired, type Server } from '../../../src/index.js';
import { memoryStore } from '../../../src/transport/cluster.js';
import { startMembers, type TestMember } from '../../support/cluster.js';
import {
  ask,
  initialize,
  legacy,
  legacyCall,
  modern,
  modernCall,
  open,
  plainServer,
} from '../../support/http-server.js';

describe('the transport of 2024-11-05 in a cluster', () => {
  it('takes messages at any member, and answers on the stream', async () => {
    const members = await startMembers(2, plainServer, { http: { sse: true } });
    const [a, b] = members.map(({ url }) => new URL(url).origin) as [string, string];
    const stream = await open(`${a}/sse`, { method: 'GET', headers: { accept: 'text/event-stream' } });
    await stream.until('the address', () => stream.events.length > 0);
    const message = stream.events[0]!.data!;
    expect(message).toContain(`sessionId=${members[0]!.id}.`);
    const say = (body: object) => ask(new URL(message, `${b}/sse`).href, legacy(body));
    expect((await say(initialize(1, '2024-11-05'))).status).toBe(202);
    expect((await say(legacyCall(2, 'echo', { text: 'hi' }))).status).toBe(202);
    await stream.until('the answer', () => stream.text.includes('"id":2'));
    stream.hangUp();
    await members[0]!.kill();
    expect((await say(legacyCall(3, 'echo', { text: 'hi' }))).status).toBe(404);
  });
});

describe('a modern call in a cluster', () => {
  it('goes on in the member where it waits, whichever gets the answer', async () => {
    const members = await startMembers(3, askingServer);
    const [a, b, c] = members.map(({ url }) => url) as [string, string, string];
    const capabilities = { elicitation: { form: {} } };
    const first = await ask(a, modernCall(1, 'ask', {}, { capabilities }));
    const { requestState } = first.json['result'] as { requestState: string };
    const answers = { 'elicitation-1': { action: 'accept', content: { name: 'Ada' } } };
    const retry = (url: string, state = requestState) =>
      ask(
        url,
        modernCall(2, 'ask', {}, { capabilities, params: { requestState: state, inputResponses: answers } }),
      );
    const second = await retry(b);
    expect(second.json).toMatchObject({ id: 2, result: { content: [{ text: 'Hello Ada' }] } });
    // A state can be used once, at any member.
    expect((await retry(c)).json).toMatchObject({ error: { code: -32602 } });
  });

  it('says that it has to be made again when its member is gone', async () => {
    const members = await startMembers(2, askingServer);
    const capabilities = { elicitation: { form: {} } };
    const first = await ask(members[0]!.url, modernCall(1, 'ask', {}, { capabilities }));
    const { requestState } = first.json['result'] as { requestState: string };
    await members[0]!.kill();
    await members[1]!.cluster.members.fence(members[0]!.id);
    const params = { requestState, inputResponses: {} };
    const second = await ask(members[1]!.url, modernCall(2, 'ask', {}, { capabilities, params }));
    const { error } = second.json as unknown as { error: { code: number; message: string } };
    expect(error.code).toBe(-32602);
    expect(error.message).toContain('make the call again');
  });

  it('goes on in a member that has lost the store only', async () => {
    const store = memoryStore();
    const [a, b] = (await startMembers(2, askingServer, { join: { store } })) as [TestMember, TestMember];
    const capabilities = { elicitation: { form: {} } };
    const first = await ask(a.url, modernCall(1, 'ask', {}, { capabilities }));
    const { requestState } = first.json['result'] as { requestState: string };
    a.store.cut = true;
    await store.leave(a.id);
    await b.cluster.members.refresh();
    expect(b.cluster.members.standingOf(a.id)).toBe('gone');
    const inputResponses = { 'elicitation-1': { action: 'accept', content: { name: 'Ada' } } };
    const params = { requestState, inputResponses };
    const second = await ask(b.url, modernCall(2, 'ask', {}, { capabilities, params }));
    expect(second.json).toMatchObject({ id: 2, result: { content: [{ text: 'Hello Ada' }] } });
  });

  it('is continued by any member if its handler keeps nothing', async () => {
    const members = await startMembers(2, askingServer);
    const capabilities = { elicitation: { form: {} } };
    const first = await ask(members[0]!.url, modernCall(1, 'replay', {}, { capabilities }));
    const { requestState } = first.json['result'] as { requestState: string };
    await members[0]!.kill();
    const inputResponses = { name: { action: 'accept', content: { name: 'Bob' } } };
    const params = { requestState, inputResponses };
    const second = await ask(members[1]!.url, modernCall(2, 'replay', {}, { capabilities, params }));
    expect(second.json).toMatchObject({ result: { content: [{ text: 'Hello Bob, step 1' }] } });
  });

  it('hears of changes in another member', async () => {
    const servers: Server[] = [];
    const members = await startMembers(2, () => {
      const server = plainServer();
      servers.push(server);
      return server;
    });
    const notifications = { toolsListChanged: true };
    const listening = await open(members[0]!.url, modern('l', 'subscriptions/listen', { notifications }));
    await listening.next();
    servers[1]!.tool('another', {}, () => 'x');
    expect(await listening.next()).toMatchObject({ method: 'notifications/tools/list_changed' });
  });

  it('costs no operation of the store', async () => {
    const [member] = await startMembers(1, plainServer);
    const operations: string[] = [];
    member!.cluster.store.onOperation = (operation) => operations.push(operation);
    for (let id = 0; id < 50; id += 1) await ask(member!.url, modernCall(id, 'echo', { text: 'hi' }));
    expect(operations.filter((each) => each !== 'beat' && each !== 'publish')).toEqual([]);
  });
});

function askingServer(): Server {
  const server = createServer({ name: 'asking', version: '1' });
  const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } } as const;
  server.tool('ask', {}, async (_args, ctx) => {
    const answer = await ctx.elicit({ message: 'Who?', requestedSchema });
    return `Hello ${answer.action === 'accept' ? answer.content?.['name'] : 'nobody'}`;
  });
  server.tool('replay', {}, (_args, ctx) => {
    const answer = ctx.answers?.['name'] as { content?: { name?: string } } | undefined;
    if (answer) return `Hello ${answer.content?.name}, step ${(ctx.state as { step: number }).step}`;
    return inputRequired({
      requests: { name: { method: 'elicitation/create', params: { message: 'Who?', requestedSchema } } },
      state: { step: 1 },
    });
  });
  return server;
}

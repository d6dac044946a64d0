import { serve } from '@isthmus/sdk';
import { createDemoServer } from 'isthmus/internal/demo/demo-server.js';
import { type Message, streamLink } from '../../../../../test/support/raw-client.js';
import type { Revision } from '../../../src/shapes/index.js';

/** A message of the server, and the method of the request that it answers. */
export interface Heard {
  readonly message: Message;
  readonly asked: string | undefined;
}

/** `crash` takes this process with it, `test_reconnection` only takes time. */
const LEFT_OUT = ['crash', 'test_reconnection'];

/** Everything that the demo says when it is asked for all that it has, in one revision. */
export async function listenToDemo(revision: Revision): Promise<Heard[]> {
  const link = streamLink();
  const served = await serve(createDemoServer(), link, { graceMs: 0 });
  try {
    const demo = converse(link.connect(), revision);
    await demo.open();
    if (revision === '2026-07-28') demo.say('subscriptions/listen', { notifications: ALL_NEWS });
    const { tools } = (await demo.ask('tools/list')) as { tools: { name: string }[] };
    const { prompts } = (await demo.ask('prompts/list')) as { prompts: { name: string }[] };
    const { resources } = (await demo.ask('resources/list')) as { resources: { uri: string }[] };
    await Promise.all([
      demo.ask('resources/templates/list'),
      demo.ask('no/such/method'),
      demo.ask('tools/call', { name: 'no-such-tool' }),
      demo.ask('resources/read', { uri: 'test://nowhere' }),
      demo.ask('completion/complete', {
        ref: { type: 'ref/prompt', name: 'test_prompt_with_arguments' },
        argument: { name: 'arg1', value: 'pa' },
      }),
      ...tools.filter(({ name }) => !LEFT_OUT.includes(name)).map(({ name }) => demo.call(name)),
      ...prompts.map(({ name }) => demo.ask('prompts/get', { name, arguments: PROMPT_ARGUMENTS })),
      ...resources.map(({ uri }) => demo.ask('resources/read', { uri })),
    ]);
    demo.end();
    return demo.heard;
  } finally {
    await served.close({ graceMs: 0 });
  }
}

function converse(client: ReturnType<ReturnType<typeof streamLink>['connect']>, revision: Revision) {
  const heard: Heard[] = [];
  const asked = new Map<number, string>();
  const waiting = new Map<number, (result: unknown) => void>();
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': revision,
    'io.modelcontextprotocol/clientCapabilities': CAPABILITIES,
    'io.modelcontextprotocol/logLevel': 'debug',
  };
  const say = (method: string, params: object) => {
    const id = asked.size + 1;
    asked.set(id, method);
    const meta = { progressToken: id, ...(revision === '2026-07-28' && envelope) };
    client.send({ jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } });
    return id;
  };
  const ask = (method: string, params: object = {}) =>
    new Promise<unknown>((resolve) => {
      waiting.set(say(method, params), resolve);
    });
  const read = async () => {
    for (;;) {
      const message = await client.next();
      const id = message.id as number;
      const answers = message.method === undefined;
      heard.push({ message, asked: answers ? asked.get(id) : undefined });
      if (answers) waiting.get(id)?.(message.result);
      else if (id !== undefined) client.send({ jsonrpc: '2.0', id, result: ANSWERS[String(message.method)] });
    }
  };
  // It ends with the connection.
  read().catch(() => {});
  return {
    heard,
    say,
    ask,
    call: (name: string) => ask('tools/call', { name, arguments: ARGUMENTS }),
    async open() {
      if (revision === '2026-07-28') return ask('server/discover');
      const clientInfo = { name: 'raw', version: '1' };
      await ask('initialize', { protocolVersion: revision, capabilities: CAPABILITIES, clientInfo });
      return client.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    },
    end: () => client.end(),
  };
}

const CAPABILITIES = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {}, context: {} },
  roots: {},
};
const ALL_NEWS = {
  toolsListChanged: true,
  promptsListChanged: true,
  resourcesListChanged: true,
  resourceSubscriptions: ['demo://clock'],
};
const ARGUMENTS = { text: 'a', a: 1, b: 2, ms: 20, bytes: 10, message: 'm', prompt: 'p' };
const PROMPT_ARGUMENTS = { arg1: 'a', arg2: 'b', resourceUri: 'test://a' };
const ANSWERS: Record<string, object> = {
  ping: {},
  'roots/list': { roots: [{ uri: 'file:///raw' }] },
  'sampling/createMessage': { role: 'assistant', model: 'raw', content: { type: 'text', text: 'a' } },
  'elicitation/create': { action: 'accept', content: { name: 'Ada' } },
};

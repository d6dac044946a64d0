import { readFile } from 'node:fs/promises';
import { assertSound } from '@isthmus/check';
import { createGateway } from '@isthmus/gateway';
import * as sdk from '@isthmus/sdk';
import { OFFICIAL_SPELLINGS } from '@isthmus/sdk/internal/arguments.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';

/** The same functions without their types: what a program in JavaScript can write. */
// biome-ignore lint/suspicious/noExplicitAny: JavaScript has no types
const js = { ...sdk, assertSound, createGateway } as any;
// biome-ignore lint/suspicious/noExplicitAny: JavaScript has no types
const newServer = (): any => sdk.createServer({ name: 'slips', version: '1' });

/** The message of the error that a slip throws or rejects with. */
async function slip(work: () => unknown): Promise<string> {
  try {
    await work();
  } catch (error) {
    expect(error).toMatchObject({ name: 'IsthmusError', code: 'INVALID_OPTION' });
    return (error as Error).message;
  }
  return 'nothing was thrown';
}

const handler = () => 'x';

describe('N4: a registration in an order of the official SDK names our spelling', () => {
  it.each<[string, (server: ReturnType<typeof newServer>) => unknown, string]>([
    [
      "tool('add', 'Adds', { a }, handler)",
      (server) => server.tool('add', 'Adds', { a: z.number() }, handler),
      'server.tool takes (name, definition, handler), got (a string, a string, an object, a function). Write server.tool("add", { description, input }, handler)',
    ],
    [
      "tool('add', handler)",
      (server) => server.tool('add', handler),
      'server.tool takes (name, definition, handler), got (a string, a function, undefined). Write server.tool("add", { description, input }, handler)',
    ],
    [
      "tool('add', { a: z.number() }, handler)",
      (server) => server.tool('add', { a: z.number() }, handler),
      'server.tool("add") has no option "a"; wrap the arguments: { input: z.object({ a: … }) }',
    ],
    [
      "resource('config', 'config://app', {}, handler)",
      (server) => server.resource('config', 'config://app', {}, handler),
      'server.resource takes (uri, definition, handler), got (a string, a string, an object, a function). Write server.resource("config://app", { name: "config" }, handler)',
    ],
    [
      "resource('user', new ResourceTemplate(…), {}, handler)",
      (server) => server.resource('user', { uriTemplate: 'users://{id}' }, {}, handler),
      'server.resource takes (uri, definition, handler), got (a string, an object, an object, a function). Write server.resourceTemplate(uriTemplate, { name: "user" }, handler)',
    ],
    [
      "prompt('review', 'Reviews', {}, handler)",
      (server) => server.prompt('review', 'Reviews', {}, handler),
      'server.prompt takes (name, definition, handler), got (a string, a string, an object, a function). Write server.prompt("review", { description, arguments }, handler)',
    ],
    [
      'registerTool(…)',
      (server) => server.registerTool('add', {}, handler),
      'registerTool is a method of the official SDK. Here, write server.tool(name, { description, input, output }, (args, ctx) => …)',
    ],
    [
      'connect(transport)',
      (server) => server.connect({}),
      'connect is a method of the official SDK. Here, write serve(server, stdio())',
    ],
  ])('%s', async (_, register, message) => {
    expect(await slip(() => register(newServer()))).toBe(message);
  });
});

describe('N4: a misspelled option is an error', () => {
  it.each<[string, () => unknown, string]>([
    [
      'createServer',
      () => js.createServer({ name: 'a', version: '1', instruction: 'x' }),
      'createServer has no option "instruction"; did you mean "instructions"?',
    ],
    [
      'createServer(info, options)',
      () => js.createServer({ name: 'a', version: '1' }, { capabilities: {} }),
      'createServer takes one argument, got an object as the second: put all options into the first',
    ],
    [
      'tool',
      () => newServer().tool('a', { desc: 'x' }, handler),
      'server.tool("a") has no option "desc"; did you mean "description"?',
    ],
    [
      'tool with both spellings',
      () => newServer().tool('a', { input: z.object({}), inputSchema: z.object({}) }, handler),
      'server.tool("a"): "inputSchema" means the same as "input"; write only "input"',
    ],
    [
      'resource',
      () => newServer().resource('x:a', { name: 'a', mimetype: 'text/plain' }, handler),
      'server.resource("x:a") has no option "mimetype"; did you mean "mimeType"?',
    ],
    [
      'resourceTemplate',
      () => newServer().resourceTemplate('x:{id}', { name: 'a', complete: { ids: handler } }, handler),
      'resource template x:{id} has no variable "ids" to complete',
    ],
    [
      'an argument of a prompt',
      () => newServer().prompt('a', { arguments: { who: { require: true } } }, handler),
      'prompt a: the argument who has no option "require"; did you mean "required"?',
    ],
    [
      'createHost without servers',
      () => js.createHost({ weather: { command: 'node' } }),
      'createHost has no option "weather"; put the servers into "servers"',
    ],
    [
      'createHost with mcpServers',
      () => js.createHost({ mcpServers: [] }),
      'createHost has no option "mcpServers"; did you mean "servers"?',
    ],
    [
      'a server of a host',
      () => js.createHost({ servers: { a: { command: 'node', arg: ['x'] } } }),
      'Server a has no option "arg"; did you mean "args"?',
    ],
    [
      'createBridge',
      () => js.createBridge(js.http('http://127.0.0.1:1/mcp'), { timeoutMS: 5 }),
      'createBridge has no option "timeoutMS"; did you mean "timeoutMs"?',
    ],
    [
      'http to connect',
      () => js.http('http://127.0.0.1:1/mcp', { header: {} }),
      'http has no option "header"; did you mean "headers"?',
    ],
    [
      'http with a url inside',
      () => js.http({ url: 'http://127.0.0.1:1/mcp' }),
      'http has no option "url"; to connect, write http(url, options)',
    ],
    [
      'httpHandler',
      () => js.httpHandler({ port: 80 }),
      'httpHandler has no option "port"; the web server around it has the port',
    ],
    [
      'stdio',
      () => js.stdio({ args: ['server.js'] }),
      'stdio has no option "args"; to start a server, write stdio({ command, args })',
    ],
    [
      'stdio with a string',
      () => js.stdio('node', ['server.js']),
      'stdio: write stdio({ command: "node", args: […] })',
    ],
    ['tcp', () => js.tcp({ prot: 1 }), 'tcp has no option "prot"; did you mean "port"?'],
    ['unixSocket', () => js.unixSocket({ path: '/x' }), 'unixSocket needs a path, got an object'],
    [
      'createGateway',
      () => js.createGateway({ servers: {}, addresses: [] }),
      'createGateway has no option "servers"; write units: Object.values(servers)',
    ],
    [
      'createGateway without addresses',
      () => js.createGateway({ units: [] }),
      'createGateway: addresses must be a list, got undefined',
    ],
    [
      'assertSound',
      () => js.assertSound({ command: 'node' }, { failon: 'must' }),
      'assertSound has no option "failon"; did you mean "failOn"?',
    ],
    [
      'assertSound with a string',
      () => js.assertSound('https://example.com/mcp'),
      'The server must be an object, got a string. Write { url }',
    ],
  ])('%s', async (_, work, message) => {
    expect(await slip(work)).toBe(message);
  });
});

describe('N4: connect and serve say what they need', () => {
  it.each<[string, () => unknown, string]>([
    [
      "connect('https://…')",
      () => js.connect('https://example.com/mcp?key=secret'),
      'connect needs a connector, got a string. Write http(url)',
    ],
    [
      "connect('node server.js')",
      () => js.connect('node server.js'),
      'connect needs a connector, got a string. Write stdio({ command, args })',
    ],
    [
      'connect({ command })',
      () => js.connect({ command: 'node' }),
      'connect needs a connector, got an object. Write stdio({ command, args })',
    ],
    [
      'connect(stdio())',
      () => js.connect(js.stdio()),
      'connect needs a connector, got an object. Write http(url), stdio({ command, args }) or unixSocket(path)',
    ],
    [
      'connect(server)',
      () => js.connect(newServer()),
      'connect needs a connector, got an object. Write memory(): serve the server on it, then connect to it',
    ],
    [
      'connect with timeout',
      () => js.connect(js.memory(), { timeout: 5 }),
      'connect has no option "timeout"; "timeoutMs" is the time for one call, "connectTimeoutMs" the time for connecting',
    ],
    [
      'createBridge(url)',
      () => js.createBridge('https://example.com/mcp'),
      'createBridge needs a connector, got a string. Write http(url)',
    ],
    [
      'serve(server)',
      () => js.serve(newServer()),
      'serve needs a listener, got undefined. Write serve(server, stdio()) or serve(server, http({ port }))',
    ],
    [
      'serve(server, http(url))',
      () => js.serve(newServer(), js.http('http://127.0.0.1:1/mcp')),
      'serve needs a listener, got a connector, which opens connections to other servers. Write serve(server, stdio()) or serve(server, http({ port }))',
    ],
    [
      'serve(stdio(), server)',
      () => js.serve(js.memory(), newServer()),
      'serve needs a server of createServer or createBridge, got the server comes first: serve(server, stdio())',
    ],
    [
      'serve with an unknown option',
      () => js.serve(newServer(), js.memory(), { graceMS: 5 }),
      'serve has no option "graceMS"; did you mean "graceMs"?',
    ],
  ])('%s', async (_, work, message) => {
    expect(await slip(work)).toBe(message);
  });
});

describe('N4: a call in the form of the official SDK', () => {
  async function connected() {
    const server = newServer();
    server.tool('slow', {}, (_args: object, ctx: sdk.Context) => {
      return new Promise((_, reject) =>
        ctx.signal.addEventListener('abort', () => reject(new Error('cancelled'))),
      );
    });
    const link = sdk.memory();
    const served = await sdk.serve(server, link);
    const client = await sdk.connect(link);
    onTestFinished(async () => {
      await client.close();
      await served.close({ graceMs: 0 });
    });
    // biome-ignore lint/suspicious/noExplicitAny: JavaScript has no types
    return client as any;
  }

  it.each<[string, (client: Awaited<ReturnType<typeof connected>>) => unknown, string]>([
    [
      'callTool({ name, arguments })',
      (client) => client.callTool({ name: 'slow', arguments: {} }),
      'The first argument must be a string, got an object. Write client.callTool(name, args, options)',
    ],
    [
      'readResource({ uri })',
      (client) => client.readResource({ uri: 'x:a' }),
      'The first argument must be a string, got an object. Write client.readResource(uri, options)',
    ],
    [
      'getPrompt({ name })',
      (client) => client.getPrompt({ name: 'a' }),
      'The first argument must be a string, got an object. Write client.getPrompt(name, args, options)',
    ],
    [
      'onprogress',
      (client) => client.callTool('slow', {}, { onprogress: () => {} }),
      'The call has no option "onprogress"; did you mean "onProgress"?',
    ],
  ])('%s', async (_, work, message) => {
    const client = await connected();
    expect(await slip(() => work(client))).toBe(message);
  });

  it('N4: { timeout } is accepted as { timeoutMs }', async () => {
    const client = await connected();
    await expect(client.callTool('slow', {}, { timeout: 20 })).rejects.toMatchObject({ code: 'TIMED_OUT' });
  });
});

it('N4: inputSchema, outputSchema and argsSchema are accepted', async () => {
  const server = sdk.createServer({ name: 'official', version: '1' });
  server.tool(
    'add',
    { inputSchema: z.object({ a: z.number() }), outputSchema: z.object({ sum: z.number() }) },
    ({ a }) => ({ sum: a + 1 }),
  );
  server.prompt('greet', { argsSchema: z.object({ who: z.string() }) }, ({ who }) => `Hello ${who}`);
  const link = sdk.memory();
  await using _served = await sdk.serve(server, link);
  await using client = await sdk.connect(link);
  const [tool] = await client.listTools();
  expect([tool?.inputSchema.required, tool?.outputSchema?.required]).toEqual([['a'], ['sum']]);
  expect((await client.callTool('add', { a: 1 })).structuredContent).toEqual({ sum: 2 });
  expect((await client.callTool('add', { a: 'x' })).isError).toBe(true);
  expect((await client.listPrompts())[0]?.arguments).toEqual([{ name: 'who', required: true }]);
});

it('N4: docs/moving.md has the table of accepted spellings', async () => {
  const page = await readFile(new URL('../../docs/moving.md', import.meta.url), 'utf8');
  const [, after = ''] = page.split('you can keep them:');
  const rows = after
    .slice(0, after.indexOf('Everything else'))
    .split('\n')
    .flatMap((line) => /^\| `(\w+)` +\| `(\w+)` +\| ([^|]+?) +\|$/.exec(line)?.slice(1) ?? []);
  const table = OFFICIAL_SPELLINGS.flatMap(({ theirs, ours, where }) => [theirs, ours, where]);
  expect(rows).toEqual(table);
});

import { connect, createServer, memory, type Server, serve } from '@isthmus/sdk';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';

/** A client of a server that was defined without types. */
// biome-ignore lint/suspicious/noExplicitAny: JavaScript has no types
async function clientOf(define: (server: any) => void) {
  const server: Server = createServer({ name: 'content', version: '1' });
  define(server);
  const link = memory();
  const served = await serve(server, link);
  const client = await connect(link);
  onTestFinished(async () => {
    await client.close();
    await served.close({ graceMs: 0 });
  });
  return client;
}

describe('N13: a content block that is not right is an error', () => {
  it.each([
    [
      'a typing error in a result',
      {
        content: [
          { type: 'text', text: 'a' },
          { type: 'txt', text: 'b' },
        ],
      },
      'content[1] has the unknown type "txt"; did you mean "text"?',
    ],
    [
      'an unknown type in a result',
      { content: [{ type: 'video', data: '' }], isError: false },
      'content[0] has the unknown type "video"; known are text, image, audio, resource, resource_link',
    ],
    [
      'a known type without its members',
      { content: [{ type: 'image', data: '' }] },
      'content[0] has the type "image" and needs data and mimeType',
    ],
    [
      'a single block',
      { type: 'txt', text: 'b' },
      'a content block that has the unknown type "txt"; did you mean "text"?',
    ],
    [
      'a list of blocks',
      [
        { type: 'text', text: 'a' },
        { type: 'imge', data: '', mimeType: 'image/png' },
      ],
      'a content block that has the unknown type "imge"; did you mean "image"?',
    ],
  ])('%s', async (_, returned, what) => {
    const client = await clientOf((server) => server.tool('t', {}, () => returned));
    await expect(client.callTool('t')).rejects.toMatchObject({
      code: -32603,
      message: `Tool t returned ${what}. Return data of another form as { structuredContent }`,
    });
  });

  it('N13: in a prompt, too', async () => {
    const client = await clientOf((server) =>
      server.prompt('p', {}, () => ({ role: 'user', content: { type: 'txt', text: 'x' } })),
    );
    await expect(client.getPrompt('p')).rejects.toMatchObject({ code: -32603 });
  });

  it.each([
    ['with a type of its own', { type: 'circle', radius: 3 }],
    ['with a type like ours and other members', { type: 'test', name: 'x' }],
    ['with content of its own', { type: 'doc', content: [{ type: 'paragraph' }] }],
    ['with content that has no types', { content: [1, 2] }],
    ['as a list', [{ type: 'a' }, { type: 'b' }]],
  ])('N13: data %s stays data', async (_, returned) => {
    const client = await clientOf((server) => server.tool('t', {}, () => returned));
    expect((await client.callTool('t')).structuredContent).toEqual(returned);
  });
});

describe('N13: a raw zod shape is refused at registration', () => {
  it.each([
    [
      'tool',
      'input',
      'The schema of tool t (input) cannot be used: it is a plain object of schemas; wrap it: z.object({ a: … })',
    ],
    [
      'prompt',
      'argsSchema',
      'The schema of prompt t (arguments) cannot be used: it is a plain object of schemas; wrap it: z.object({ a: … })',
    ],
  ])('%s', async (method, option, message) => {
    await expect(
      clientOf((server) => server[method]('t', { [option]: { a: z.string() } }, () => 'x')),
    ).rejects.toThrow(message);
  });
});

describe('N13: a tool name that LLM APIs refuse', () => {
  function warningsOf(...names: string[]): string[] {
    const warnings: string[] = [];
    const { emitWarning } = process;
    process.emitWarning = ((message: string) => warnings.push(message)) as typeof emitWarning;
    try {
      const server = createServer({ name: 'names', version: '1' });
      for (const name of names) server.tool(name, {}, () => 'x');
    } finally {
      process.emitWarning = emitWarning;
    }
    return warnings;
  }

  it('N13: earns one warning at registration', () => {
    expect(warningsOf('files.read', 'x'.repeat(65))).toEqual([
      'The tool name "files.read" is refused by LLM APIs: they allow 1 to 64 letters, digits, _ and -',
      `The tool name "${'x'.repeat(65)}" is refused by LLM APIs: they allow 1 to 64 letters, digits, _ and -`,
    ]);
  });

  it('N13: others earn none', () => {
    expect(warningsOf('files_read-2', 'x'.repeat(64))).toEqual([]);
  });
});

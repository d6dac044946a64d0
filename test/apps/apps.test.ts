/**
 * A server of MCP Apps that was made with the official helpers, behind `isthmus serve` and among others at one address,
 * seen by the official clients of both generations.
 */
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type ServedFile, serveFile } from '../solved/support/serve-file.js';
import { connectV1 } from '../support/official-v1.js';
import { connectV2, MODERN } from '../support/official-v2.js';

const PROGRAM = fileURLToPath(new URL('apps-server.mjs', import.meta.url));
const UI = { mimeTypes: ['text/html;profile=mcp-app'] };
const capabilities = { extensions: { 'io.modelcontextprotocol/ui': UI } };

/** The part of both official clients that the tests use. */
interface Host {
  getServerCapabilities(): { extensions?: object } | undefined;
  listTools(): Promise<{ tools: { name: string; _meta?: Record<string, unknown> }[] }>;
  listResources(): Promise<{ resources: { uri: string; _meta?: object }[] }>;
  callTool(params: { name: string }): Promise<Record<string, unknown>>;
  readResource(params: { uri: string }): Promise<{ contents: Record<string, unknown>[] }>;
  close(): Promise<void>;
}

async function openHost(kind: 'v1' | 'v2', url: string): Promise<Host> {
  const { client } =
    kind === 'v1'
      ? await connectV1({ url }, { capabilities })
      : await connectV2({ url }, { capabilities, mode: MODERN });
  onTestFinished(() => client.close());
  return client as unknown as Host;
}

const textOf = (result: Record<string, unknown>) => (result['content'] as { text: string }[])[0]?.text;

describe.each(['legacy', 'modern'] as const)('apps of a %s server', (mode) => {
  let gateway: ServedFile;

  beforeAll(async () => {
    const entry = (name: string) => ({ command: process.execPath, args: [PROGRAM, name], mode });
    gateway = await serveFile({ maps: entry('maps'), weather: entry('weather') });
  });

  afterAll(() => gateway?.reap());

  describe.each(['v1', 'v2'] as const)(
    'seen by the official client %s, which declares the extension',
    (kind) => {
      it('at the address of the server: the extension, the tools, the view with its rules, the result', async () => {
        const host = await openHost(kind, gateway.at('/mcp/maps'));
        expect(host.getServerCapabilities()?.extensions).toEqual({ 'io.modelcontextprotocol/ui': {} });
        const { tools } = await host.listTools();
        expect(tools.map(({ name, _meta }) => [name, _meta?.['ui']])).toEqual([
          ['show', { resourceUri: 'ui://view', visibility: ['model', 'app'] }],
          ['refresh_maps', { resourceUri: 'ui://view', visibility: ['app'] }],
          ['declared', undefined],
        ]);
        const { resources } = await host.listResources();
        const csp = { connectDomains: ['https://tiles.example.com'] };
        expect(resources.map(({ uri, _meta }) => [uri, _meta])).toEqual([
          ['ui://view', { ui: { csp, prefersBorder: true } }],
        ]);
        const { contents } = await host.readResource({ uri: 'ui://view' });
        expect(contents).toEqual([
          { uri: 'ui://view', mimeType: UI.mimeTypes[0], text: '<p>maps</p>', _meta: { ui: { csp } } },
        ]);
        const shown = await host.callTool({ name: 'show' });
        expect([shown['structuredContent'], shown['_meta']]).toMatchObject([
          { name: 'maps' },
          { 'com.example/for-the-view': 'maps' },
        ]);
      });

      it('the server is told that its client shows views', async () => {
        const host = await openHost(kind, gateway.at('/mcp/maps'));
        expect(JSON.parse(textOf(await host.callTool({ name: 'declared' }))!)).toEqual(UI);
      });

      it('among other servers: two views with one address are told apart, in lists and in what is read', async () => {
        const host = await openHost(kind, gateway.url);
        expect(host.getServerCapabilities()?.extensions).toEqual({ 'io.modelcontextprotocol/ui': {} });
        const { tools } = await host.listTools();
        const views = tools.flatMap(({ name, _meta }) => {
          const ui = _meta?.['ui'] as { resourceUri: string } | undefined;
          return ui ? [[name, ui.resourceUri, _meta?.['ui/resourceUri']]] : [];
        });
        expect(views).toEqual([
          ['maps__show', 'ui://view', 'ui://view'],
          ['maps__refresh_maps', 'ui://view', 'ui://view'],
          ['weather__show', 'ui://weather~/view', 'ui://weather~/view'],
          ['weather__refresh_weather', 'ui://weather~/view', 'ui://weather~/view'],
        ]);
        const { resources } = await host.listResources();
        expect(resources.map(({ uri }) => uri)).toEqual(['ui://view', 'ui://weather~/view']);
        const read = async (uri: string) => (await host.readResource({ uri })).contents[0];
        expect(await read('ui://view')).toMatchObject({ uri: 'ui://view', text: '<p>maps</p>' });
        expect(await read('ui://weather~/view')).toMatchObject({
          uri: 'ui://weather~/view',
          text: '<p>weather</p>',
        });
      });

      it('among other servers: a view calls a tool of its server by the name that this server gave it', async () => {
        const host = await openHost(kind, gateway.url);
        expect(textOf(await host.callTool({ name: 'refresh_weather' }))).toBe('weather again');
        expect(textOf(await host.callTool({ name: 'weather__show' }))).toBe('weather');
        await expect(host.callTool({ name: 'show' })).rejects.toThrow(
          'Several servers have it: call maps__show or weather__show',
        );
        await expect(host.callTool({ name: 'hide' })).rejects.toThrow('Unknown tool: hide');
      });
    },
  );
});

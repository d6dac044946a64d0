import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ResultSchema } from '@modelcontextprotocol/sdk/types.js';
import {
  type Address,
  answer,
  type ClientKind,
  type Event,
  hearProgress,
  type Json,
  toError,
} from './witness.js';

/** `@modelcontextprotocol/sdk` 1.x, which knows the legacy era only. */
export const officialV1: ClientKind = {
  name: 'v1',
  title: 'official v1',
  era: 'legacy',
  async connect(address, user) {
    const events: Event[] = [];
    const client = new Client({ name: 'witness', version: '1.0.0' }, { capabilities: user.capabilities });
    client.fallbackRequestHandler = async ({ method, params = {} }) => {
      const { _meta, ...asked } = params as Json;
      events.push({ asked: { method, params: asked } });
      return answer(method, asked, user);
    };
    client.fallbackNotificationHandler = async ({ method, params }) => {
      events.push({ told: { method, params } });
    };
    const transport = transportTo(address);
    await client.connect(transport).catch(async (error: unknown) => {
      await client.close();
      throw error;
    });
    let heardProgress: ((update: Json) => void) | undefined;
    hearProgress(transport, (update) => heardProgress?.(update));
    return {
      era: 'legacy',
      opening: {
        capabilities: client.getServerCapabilities(),
        serverInfo: client.getServerVersion(),
        instructions: client.getInstructions(),
      },
      events,
      async request(method, params, given = {}) {
        const { progress, cancel, timeoutMs } = given;
        const abort = new AbortController();
        const onUpdate = (update: Json) => {
          events.push({ progress: update });
          if (!cancel) return;
          heardProgress = undefined;
          abort.abort('enough');
        };
        heardProgress = progress ? onUpdate : undefined;
        const options = {
          timeout: timeoutMs,
          signal: abort.signal,
          ...(progress && { onprogress: () => {} }),
        };
        try {
          events.push({ result: await client.request({ method, params }, ResultSchema, options) });
        } catch (error) {
          events.push({ error: toError(error, given) });
        } finally {
          heardProgress = undefined;
        }
      },
      async setLogLevel(level) {
        await client.setLoggingLevel(level as never);
      },
      async watch(uri) {
        await client.subscribeResource({ uri });
      },
      close: () => client.close(),
    };
  },
};

function transportTo(address: Address): Transport {
  // Its types say `sessionId?: string` and mean that it may be undefined.
  if ('url' in address) return new StreamableHTTPClientTransport(new URL(address.url)) as Transport;
  const { command, args } = address;
  return new StdioClientTransport({
    ...{ command, args: [...args] },
    ...{ env: { ...getDefaultEnvironment(), XDG_CACHE_HOME: process.env['XDG_CACHE_HOME']! } },
    stderr: 'ignore',
  });
}

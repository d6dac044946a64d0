import { ResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { type ClientV1, connectV1 } from '../../support/official-v1.js';
import {
  answer,
  type ClientKind,
  cacheFolder,
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
    const prepare = (client: ClientV1) => {
      client.fallbackRequestHandler = async ({ method, params = {} }) => {
        const { _meta, ...asked } = params as Json;
        events.push({ asked: { method, params: asked } });
        return answer(method, asked, user);
      };
      client.fallbackNotificationHandler = async ({ method, params }) => {
        events.push({ told: { method, params } });
      };
    };
    const { client, transport } = await connectV1(address, {
      ...{ name: 'witness', capabilities: user.capabilities, env: cacheFolder(), prepare },
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

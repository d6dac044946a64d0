import { z } from 'zod';
import { type ClientV2, connectV2, type VersionNegotiationMode } from '../../support/official-v2.js';
import {
  answer,
  type ClientKind,
  cacheFolder,
  type Event,
  hearProgress,
  type Json,
  toError,
} from './witness.js';

const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';
const ANYTHING = z.looseObject({});

/** `@modelcontextprotocol/client` 2.x, held to one era. */
export function officialV2(kind: Omit<ClientKind, 'connect'>, mode: VersionNegotiationMode): ClientKind {
  return {
    ...kind,
    async connect(address, user) {
      const events: Event[] = [];
      const prepare = (client: ClientV2) => {
        const reply = ({ method, params }: { method: string; params?: object }) => {
          const { _meta, ...asked } = (params ?? {}) as Json;
          events.push({ asked: { method, params: asked } });
          return answer(method, asked, user) as never;
        };
        for (const [capability, method] of QUESTIONS) {
          if (user.capabilities[capability]) client.setRequestHandler(method, reply);
        }
        client.fallbackNotificationHandler = async ({ method, params }) => {
          events.push({ told: { method, params } });
        };
      };
      const { client, transport } = await connectV2(address, {
        ...{ name: 'witness', capabilities: user.capabilities, mode, env: cacheFolder(), prepare },
      });
      let logLevel: string | undefined;
      let heardProgress: ((update: Json) => void) | undefined;
      hearProgress(transport, (update) => heardProgress?.(update));
      return {
        era: kind.era,
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
          const meta = { ...(params['_meta'] as Json), ...(logLevel && { [LOG_LEVEL]: logLevel }) };
          const request = {
            method,
            params: { ...params, ...(Object.keys(meta).length > 0 && { _meta: meta }) },
          };
          try {
            const result = KNOWN.has(method)
              ? await client.request(request as never, options)
              : await client.request(request, ANYTHING, options);
            events.push({ result });
          } catch (error) {
            events.push({ error: toError(error, given) });
          } finally {
            heardProgress = undefined;
          }
        },
        async setLogLevel(level) {
          if (kind.era === 'modern') logLevel = level;
          else await client.setLoggingLevel(level as never);
        },
        async watch(uri) {
          if (kind.era === 'legacy') {
            await client.subscribeResource({ uri });
            return;
          }
          await client.listen({
            ...{ toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true },
            resourceSubscriptions: [uri],
          });
        },
        close: () => client.close(),
      };
    },
  };
}

const QUESTIONS = [
  ['elicitation', 'elicitation/create'],
  ['sampling', 'sampling/createMessage'],
  ['roots', 'roots/list'],
] as const;

/** It takes no schema for the methods that it knows. */
const KNOWN: ReadonlySet<string> = new Set([
  ...['tools/list', 'tools/call', 'prompts/list', 'prompts/get', 'completion/complete', 'ping'],
  ...['resources/list', 'resources/templates/list', 'resources/read'],
  ...['resources/subscribe', 'resources/unsubscribe', 'logging/setLevel'],
]);

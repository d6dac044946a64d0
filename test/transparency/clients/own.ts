import { connect } from '@isthmus/sdk/client';
import { http } from '@isthmus/sdk/http';
import { stdio } from '@isthmus/sdk/stdio';
import { answer, type ClientKind, type Event, type Json, toError } from './witness.js';

/** Our own client, held to one era. */
export function own(kind: Omit<ClientKind, 'connect'>): ClientKind {
  return {
    ...kind,
    async connect(address, user) {
      const events: Event[] = [];
      const reply = (method: string) => (params: object) => {
        const { _meta, ...asked } = params as Json;
        events.push({ asked: { method, params: asked } });
        return answer(method, asked, user) as never;
      };
      const { elicitation, sampling, roots } = user.capabilities;
      const told = (method: string) => (params: unknown) => {
        events.push({ told: { method, params } });
      };
      const onLog = told('log');
      const connector =
        'url' in address
          ? http(address.url)
          : stdio({ ...address, env: { XDG_CACHE_HOME: process.env['XDG_CACHE_HOME']! } });
      const client = await connect(connector, {
        mode: kind.era,
        info: { name: 'witness', version: '1.0.0' },
        onLog,
        answers: {
          ...(elicitation ? { elicit: reply('elicitation/create'), urls: true } : {}),
          ...(sampling ? { sample: reply('sampling/createMessage') } : {}),
          ...(roots ? { roots: () => reply('roots/list')({})['roots'] } : {}),
        },
      });
      return {
        era: kind.era,
        opening: { ...client.server },
        events,
        async request(method, params, given = {}) {
          const { progress, cancel, timeoutMs } = given;
          const abort = new AbortController();
          const onProgress = (update: object) => {
            events.push({ progress: update });
            if (cancel) abort.abort('enough');
          };
          const options = { timeoutMs, signal: abort.signal, onLog, ...(progress && { onProgress }) };
          try {
            events.push({ result: await client.request(method, params, options) });
          } catch (error) {
            events.push({ error: toError(error, given) });
          }
        },
        setLogLevel: (level) => client.setLogLevel(level as never),
        async watch(uri) {
          const changes = await client.listen({ tools: true, prompts: true, resources: true, uris: [uri] });
          events.push({ result: changes.honoured });
          void (async () => {
            for await (const change of changes) told('change')(change);
          })();
        },
        close: () => client.close(),
      };
    },
  };
}

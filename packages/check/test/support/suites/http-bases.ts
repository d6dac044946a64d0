import { setTimeout as sleep } from 'node:timers/promises';
import { type HttpListenOptions, type HttpRequestFacts, http, type Refusal } from '@isthmus/sdk/http';
import { ProtocolError } from '@isthmus/sdk/internal/errors.js';
import { createServer } from '@isthmus/sdk/internal/server/create-server.js';
import { jsonSchema } from '@isthmus/sdk/internal/server/schema.js';
import { type ServeOptions, serve } from '@isthmus/sdk/internal/server/serve.js';
import type { Server } from '@isthmus/sdk/internal/server/server.js';
import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';
import { httpTarget } from '../../../src/index.js';
import type { HttpBase } from './mutant.js';

/** A little server with one of everything that the checks of HTTP look at; its walkthrough is short. */
export function createSmallServer(): Server {
  const server = createServer({ name: 'small', version: '1.0.0' });
  const annotations = { readOnlyHint: true };
  server.tool('count', { annotations, description: 'Reports progress three times' }, async (_args, ctx) => {
    for (const progress of [1, 2, 3]) {
      ctx.progress(progress, 3);
      await sleep(5);
    }
    return 'counted';
  });
  server.tool(
    'mirror',
    {
      annotations,
      description: 'Has its arguments in headers, too',
      input: jsonSchema<{ region?: string; size?: number }>({
        type: 'object',
        properties: {
          region: { type: 'string', description: 'Where', 'x-mcp-header': 'Region' },
          size: { type: 'integer', description: 'How big', 'x-mcp-header': 'Size' },
        },
      }),
    },
    ({ region, size }) => `${region} ${size}`,
  );
  server.tool('ask', { annotations, description: 'Needs sampling' }, (_args, ctx) => {
    if (ctx.peer.capabilities.sampling) return 'could ask';
    throw new ProtocolError(ErrorCode.MissingClientCapability, 'This tool needs sampling', {
      requiredCapabilities: { sampling: {} },
    });
  });
  server.resource('small://text', { name: 'text', mimeType: 'text/plain' }, () => 'hello');
  server.prompt('greet', { description: 'Greets' }, () => 'Hello');
  return server;
}

/** Serves it at a URL. */
export function smallAt(
  options: HttpListenOptions & { readonly token?: string } = {},
  serving: ServeOptions = {},
): HttpBase {
  return async () => {
    const { token, ...listen } = options;
    const served = await serve(
      createSmallServer(),
      http({
        port: 0,
        ...(token !== undefined && {
          authenticate: (request: HttpRequestFacts): string | Refusal =>
            request.header('authorization') === `Bearer ${token}`
              ? 'somebody'
              : { status: 401, challenge: 'scope="use"' },
        }),
        ...listen,
      }),
      serving,
    );
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
    return {
      target: httpTarget(served.addresses[0]!, { headers }),
      close: () => served.close({ graceMs: 0 }),
    };
  };
}

export const small = smallAt();
export const smallModern = smallAt({}, { eras: ['modern'] });
export const smallWithSse = smallAt({ sse: true });
export const smallGuarded = smallAt({
  token: 'sesame-7',
  protectedResource: { authorizationServers: ['https://login.example.com'], scopes: ['use'] },
});

import { join } from 'node:path';
import { http } from '@isthmus/sdk/http';
import { connect } from '@isthmus/sdk/internal/client/connect.js';
import type { ConnectOptions } from '@isthmus/sdk/internal/client/options.js';
import type { Connector } from '@isthmus/sdk/internal/exchange/connection.js';
import { createStreamConnection } from '@isthmus/sdk/internal/transport/stream-connection.js';
import { fileLoginStore, type OAuthOptions, oauth } from '@isthmus/sdk/oauth';
import { DEFAULT_STEPS, type Player, type ScriptedServer } from '../../../src/client/run/player.js';
import { acceptForm, doSteps, ROOTS, SAMPLED } from '../../client/clients/steps.mjs';

/** Our own client in this process, as clients/isthmus.mjs has it in one of its own. */
export function ownClient(options: ConnectOptions = {}, { steps = true } = {}): Player {
  return async (given) => {
    // Without, it does what every client should, and knows of nothing else.
    const stage = steps ? given : { ...given, steps: DEFAULT_STEPS };
    const work = useServer(stage, options).then(
      () => ({ code: 0, stderr: `${LOGIN_READ}${steps ? 'mcp-steps: done\n' : ''}` }),
      (error: unknown) => ({ code: 1, stderr: `${LOGIN_READ}${String(error)}` }),
    );
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), stage.boundMs);
    });
    const end = await Promise.race([work, late]);
    clearTimeout(timer);
    return end ? { ...end, late: false } : { code: null, stderr: '', late: true };
  };
}

/** It uses what MCP_LOGIN has. */
const LOGIN_READ = 'mcp-login: read\n';

async function useServer(stage: ScriptedServer, options: ConnectOptions): Promise<void> {
  const connector = stage.url === undefined ? onPipes(stage) : http(stage.url, loginFor(stage));
  const client = await connect(connector, {
    cache: false,
    // No process has to start here, but many clients and servers share this one.
    bootMs: 1000,
    silenceMs: 1000,
    answers: { elicit: acceptForm, sample: () => SAMPLED, roots: ROOTS },
    ...options,
  });
  try {
    await doSteps(
      {
        list: () => client.listTools(),
        call: (name, args, signal) => client.callTool(name, args, signal ? { signal } : {}),
        listen: () => client.listen({ tools: true }),
        close: () => client.close(),
      },
      stage.steps,
    );
  } finally {
    await client.close();
  }
}

function loginFor({ login, browser, folder }: ScriptedServer) {
  if (!login) return {};
  const auth = oauth({
    open: (url) => browser?.open(url.href),
    store: fileLoginStore(join(folder, 'logins')),
    clientMetadataUrl: 'https://client.example/oauth/client.json',
    timeoutMs: 20_000,
    ...(login as Pick<OAuthOptions, 'clientId' | 'clientSecret' | 'issuer'>),
  });
  return { auth };
}

function onPipes({ start }: ScriptedServer): Connector {
  return {
    label: 'pipes',
    identity: undefined,
    connect() {
      const { stdin, stdout, exited, kill } = start!();
      return createStreamConnection({
        label: 'pipes',
        input: stdout,
        output: stdin,
        alwaysReads: true,
        maxLineBytes: 64 * 1024 * 1024,
        gone: exited.then(() => new Error('the server has exited')),
        async release() {
          stdin.end();
          const timer = setTimeout(kill, 1500);
          await exited;
          clearTimeout(timer);
        },
      });
    },
  };
}

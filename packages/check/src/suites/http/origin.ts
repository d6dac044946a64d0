import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Check } from '../../model.js';
import type { CheckContext } from '../../run/check-context.js';
import { type Answer, ask } from './client/answer.js';
import { openingRequest } from './client/requests.js';
import { forget, openSession } from './client/session.js';

const about = { suite: 'http', over: ['http'], lane: 'own', level: 'MUST' } as const;

/** Origin and Host: protection against requests from foreign web pages. */
export const originChecks: readonly Check[] = [
  {
    ...about,
    id: 'http-origin/foreign-refused',
    title: 'Refuses a request from a foreign origin with 403',
    rules: ['HTTP-002', 'HTTP-003'],
    hint: 'Compare the Origin header with a list of allowed origins on every request, as the first step, and answer others with HTTP 403.',
    async run(context) {
      const answer = await askFrom(context, 'https://evil.example');
      needForbidden(context, answer, 'Origin: https://evil.example');
      return `was answered with ${answer.said}`;
    },
  },
  {
    ...about,
    id: 'http-origin/lookalike-refused',
    title: 'Refuses origins that only begin like an allowed one',
    rules: ['HTTP-002', 'HTTP-003'],
    hint: 'Compare the whole origin (scheme, host and port), not only a part of it.',
    async run(context) {
      const { hostname } = urlOf(context);
      const origins = [
        `http://${hostname.replace(/[[\]]/g, '')}.evil.example`,
        'http://localhost.evil.example',
        'http://evil.example/localhost',
      ];
      for (const origin of origins)
        needForbidden(context, await askFrom(context, origin), `Origin: ${origin}`);
      return `${origins.join(', ')}: refused`;
    },
  },
  {
    ...about,
    id: 'http-origin/every-method',
    title: 'Refuses a foreign origin with every HTTP method',
    era: 'legacy',
    rules: ['HTTP-002'],
    hint: 'Check Origin before you look at the method: GET opens streams, and DELETE ends sessions.',
    async run(context) {
      const session = await openSession(context);
      const headers = {
        ...session.headers,
        accept: 'text/event-stream',
        'content-type': undefined,
        origin: 'https://evil.example',
      };
      for (const method of ['GET', 'DELETE']) {
        const http = await context.openHttp().request({ method, headers, ms: context.patience.answerMs });
        http.close();
        if (http.status < 400 || http.status >= 500) {
          context.fail(
            `${method} from a foreign origin was answered with HTTP ${http.status}`,
            'HTTP 403 (or 405)',
          );
        }
      }
      return 'GET and DELETE from a foreign origin: refused';
    },
  },
  {
    ...about,
    id: 'http-origin/null-refused',
    title: 'Refuses the origin null',
    level: 'SHOULD',
    rules: [],
    reason:
      'Local files, sandboxed frames and some redirects send Origin: null, and any page can cause that.',
    hint: 'Do not allow the origin null unless it is on the list of allowed origins.',
    async run(context) {
      const answer = await askFrom(context, 'null');
      needForbidden(context, answer, 'Origin: null');
      return `was answered with ${answer.said}`;
    },
  },
  {
    ...about,
    id: 'http-origin/own-served',
    title: 'Serves requests from its own origin',
    level: 'SHOULD',
    rules: [],
    reason:
      'A page of the same host on this machine, such as an inspector, is trusted. A server that refuses every Origin cannot be used from browsers.',
    hint: 'Allow the origin of the requested address, at least on loopback addresses.',
    async run(context) {
      const { origin } = urlOf(context);
      if (!isLoopback(context)) return context.skip('the target is not on this machine');
      const answer = await askFrom(context, origin);
      if (answer.status !== 200)
        context.fail(`Origin: ${origin} was answered with ${answer.said}`, 'HTTP 200');
      return `Origin: ${origin} is served`;
    },
  },
  {
    ...about,
    id: 'http-origin/not-reflected',
    title: 'Does not allow a foreign origin to read its answers',
    level: 'SHOULD',
    rules: [],
    reason:
      'With Access-Control-Allow-Origin for any origin, every page that a user opens can read the answer.',
    hint: 'Set Access-Control-Allow-Origin only for origins on a list. Never copy it from the request.',
    async run(context) {
      const origin = 'https://evil.example';
      const { http, said } = await askFrom(context, origin);
      const allowed = http?.headers['access-control-allow-origin'];
      if (allowed === origin || (allowed === '*' && isLoopback(context))) {
        context.fail(
          `the answer to the origin ${origin} has Access-Control-Allow-Origin: ${allowed}`,
          'no such header',
        );
      }
      return `${said}, without permission for ${origin}`;
    },
  },
  {
    ...about,
    id: 'http-origin/foreign-host-refused',
    title: 'Refuses a foreign Host on a loopback address',
    era: 'none',
    level: 'SHOULD',
    rules: [],
    reason:
      'With DNS rebinding, a page reaches a server on this machine under a foreign host name. The Host header has that name, and Origin may be missing.',
    hint: 'On a loopback address accept only localhost, 127.0.0.1 and [::1] (and configured names) in Host; answer others with HTTP 403.',
    async run(context) {
      if (!isLoopback(context)) return context.skip('the target is not on this machine');
      const { body, headers } = openingRequest(context);
      const answer = await ask(context, context.openHttp(), {
        body,
        headers: { ...headers, host: 'evil.example' },
      });
      await forget(context, answer.http?.headers['mcp-session-id']);
      if (answer.status < 400 || answer.status >= 500)
        context.fail(`Host: evil.example was answered with ${answer.said}`, 'HTTP 403');
      return `was answered with ${answer.said}`;
    },
  },
  {
    ...about,
    id: 'http-origin/loopback-only',
    title: 'Listens only on the loopback address if it runs locally',
    era: 'none',
    level: 'SHOULD',
    rules: ['HTTP-004'],
    hint: 'Listen on 127.0.0.1, not on 0.0.0.0 or without an address.',
    async run(context) {
      if (!isLoopback(context)) return context.skip('the target is not on this machine');
      const { port } = urlOf(context);
      const others = otherAddresses();
      if (others.length === 0) return context.skip('this machine has no other address');
      for (const host of others) {
        if (await isOpen(context, host, Number(port || 80)))
          context.fail(`it also accepts connections at ${host}:${port || 80}`, 'loopback only');
      }
      return `connections are refused at ${others.map((host) => `${host}:${port}`).join(', ')}`;
    },
  },
];

async function askFrom(context: CheckContext, origin: string): Promise<Answer> {
  const { body, headers } = openingRequest(context);
  const answer = await ask(context, context.openHttp(), { body, headers: { ...headers, origin } });
  await forget(context, answer.http?.headers['mcp-session-id']);
  return answer;
}

/** Revisions before 2025-11-25 do not define the status. */
function needForbidden(context: CheckContext, { status, said }: Answer, what: string): void {
  const isRefused = context.revision >= '2025-11-25' ? status === 403 : status >= 400 && status < 500;
  if (!isRefused) context.fail(`${what} was answered with ${said}`, 'HTTP 403');
}

function urlOf({ target }: CheckContext): URL {
  return target.transport === 'http' ? target.url : new URL('http://nowhere');
}

function isLoopback(context: CheckContext): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(urlOf(context).hostname);
}

/** Addresses that reach a server on all interfaces. Linux answers at all of 127.0.0.0/8. */
function otherAddresses(): readonly string[] {
  const outer = Object.values(networkInterfaces()).flatMap((each = []) =>
    each.filter(({ internal, family }) => !internal && family === 'IPv4').map(({ address }) => address),
  );
  return [...(process.platform === 'linux' ? ['127.1.2.3'] : []), ...outer];
}

function isOpen({ clock }: CheckContext, host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const settle = (isThere: boolean) => {
      callOff();
      socket.destroy();
      resolve(isThere);
    };
    const callOff = clock.after(1000, () => settle(false));
    socket.once('connect', () => settle(true));
    socket.once('error', () => settle(false));
  });
}

import { type OAuth, type OAuthOptions, oauth } from '@isthmus/sdk';

/** A request that reached the stage, with its body as form fields. */
export interface StageRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly body: string;
  readonly form: URLSearchParams;
}

type Answer = (request: StageRequest) => Response | Promise<Response>;

/** A server and an authorization server without sockets. Every answer can be replaced, for example by a hostile one. */
export interface LoginStage {
  readonly url: string;
  readonly issuer: string;
  /** Each request, as `GET https://login.example/path`. */
  readonly log: string[];
  readonly requests: StageRequest[];
  /** By path, with the origin for other hosts. */
  readonly answers: Map<string, Answer>;
  readonly warnings: string[];
  /** The pages that were opened. */
  readonly pages: URL[];
  /** What the browser comes back with. */
  response: (page: URL) => URLSearchParams;
  login(options?: OAuthOptions): OAuth;
  fetch: typeof globalThis.fetch;
}

export const SERVER = 'https://server.example/mcp';
export const ISSUER = 'https://login.example';
export const CHALLENGE = 'Bearer resource_metadata="https://server.example/meta"';

export function loginStage(): LoginStage {
  let tokens = 0;
  const [log, requests, warnings, pages]: [string[], StageRequest[], string[], URL[]] = [[], [], [], []];
  const published = () => Response.json({ resource: SERVER, authorization_servers: [ISSUER] });
  const answers = new Map<string, Answer>([
    ['https://server.example/.well-known/oauth-protected-resource/mcp', published],
    ['https://server.example/meta', published],
    [`${ISSUER}/.well-known/oauth-authorization-server`, () => Response.json(asMetadata())],
    [`${ISSUER}/register`, () => Response.json({ client_id: 'client-1' }, { status: 201 })],
    [
      `${ISSUER}/token`,
      () => {
        tokens += 1;
        return Response.json({
          access_token: `access-${tokens}`,
          refresh_token: `refresh-${tokens}`,
          token_type: 'Bearer',
          expires_in: 3600,
        });
      },
    ],
    [`${ISSUER}/revoke`, () => new Response(null, { status: 200 })],
  ]);
  const stage: LoginStage = {
    ...{ url: SERVER, issuer: ISSUER, log, requests, answers, warnings, pages },
    response: (page) =>
      new URLSearchParams({ code: 'the-code', state: page.searchParams.get('state')!, iss: ISSUER }),
    async fetch(input, init) {
      const request = new Request(input, init);
      const url = new URL(request.url);
      const body = await request.text();
      const seen = { method: request.method, url, headers: request.headers, body };
      requests.push({ ...seen, form: new URLSearchParams(body) });
      log.push(`${request.method} ${url.href}`);
      const answer = answers.get(`${url.origin}${url.pathname}`);
      return answer ? answer(requests.at(-1)!) : new Response('', { status: 404 });
    },
    login(options = {}) {
      const auth = oauth({
        fetch: stage.fetch,
        callback: { url: 'https://app.example/callback' },
        onWarning: (warning) => void warnings.push(warning),
        open: (page) => {
          pages.push(page);
          queueMicrotask(() => queueMicrotask(() => auth.finish(stage.response(page))));
        },
        ...options,
      });
      return auth;
    },
  };
  return stage;
}

/** The metadata of the authorization server, with changes. `undefined` leaves a field out. */
export function asMetadata(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    issuer: ISSUER,
    authorization_endpoint: `${ISSUER}/authorize`,
    token_endpoint: `${ISSUER}/token`,
    registration_endpoint: `${ISSUER}/register`,
    revocation_endpoint: `${ISSUER}/revoke`,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
    ...changes,
  };
}

/** The failure of a promise, as everything that a program could print of it. */
export async function failureOf(promise: Promise<unknown>): Promise<string> {
  const { inspect } = await import('node:util');
  return promise.then(
    () => 'it succeeded',
    (error: unknown) => inspect(error, { depth: 10 }),
  );
}

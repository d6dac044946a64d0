/** The part of `oidc-provider` that the tests use. Its own types would bring those of koa and express. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  interface FoundToken {
    readonly aud: string | readonly string[] | undefined;
    readonly scope: string | undefined;
    readonly accountId: string | undefined;
    readonly clientId: string | undefined;
    destroy(): Promise<void>;
  }

  interface TokenModel {
    new (of: Readonly<Record<string, unknown>>): NewToken;
    find(token: string): Promise<FoundToken | undefined>;
  }

  interface NewToken {
    resourceServer: unknown;
    readonly expiration: number;
    save(): Promise<string>;
  }

  interface GrantContext {
    readonly oidc: {
      readonly client: { readonly clientId: string };
      readonly params: Readonly<Record<string, string | undefined>>;
    };
    status: number;
    body: unknown;
  }

  interface Grant {
    addOIDCScope(scope: string): void;
    addResourceScope(resource: string, scope: string): void;
    save(): Promise<string>;
  }

  export default class Provider {
    constructor(issuer: string, configuration: Readonly<Record<string, unknown>>);
    on(
      event: 'grant.success',
      seen: (context: { readonly body?: Readonly<Record<string, unknown>> }) => void,
    ): void;
    readonly AccessToken: TokenModel;
    readonly RefreshToken: TokenModel;
    readonly ClientCredentials: TokenModel;
    readonly Client: {
      find(id: string): Promise<unknown>;
      readonly adapter: { destroy(id: string): Promise<void> };
    };
    readonly Grant: new (of: {
      accountId: string;
      clientId: string;
    }) => Grant;
    readonly ResourceServer: new (
      id: string,
      info: Readonly<Record<string, unknown>>,
    ) => unknown;
    registerGrantType(
      name: string,
      handler: (context: GrantContext) => Promise<void>,
      parameters: readonly string[],
    ): void;
    callback(): (request: IncomingMessage, response: ServerResponse) => void;
    interactionDetails(
      request: IncomingMessage,
      response: ServerResponse,
    ): Promise<{
      readonly prompt: { readonly name: string };
      readonly params: Readonly<Record<string, unknown>>;
      readonly session?: { readonly accountId: string };
    }>;
    interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>;
  }
}

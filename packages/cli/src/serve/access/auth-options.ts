import type { AuthServerOptions } from '@isthmus/gateway/internal/auth/auth-server.js';
import type { AuthOptions } from '@isthmus/gateway/internal/auth/create-authenticate.js';
import { usageError } from '../../cli-error.js';
import type { ServeCommandOptions } from '../serve-options.js';

/** How callers are authenticated, from the command line. Undefined: they are not. */
export function readAuthOptions(
  options: ServeCommandOptions,
  onWarning: (message: string) => void,
): AuthOptions | undefined {
  const { apiKey, bearerFile, jwtJwks, jwtAudience, jwtIssuer, jwtScope, authServer } = options;
  const { jwtScopeClaim, jwtType } = options;
  const hasTokens = jwtJwks !== undefined || authServer !== undefined;
  const ofTokens = [jwtAudience, jwtIssuer, jwtScope, jwtScopeClaim, jwtType];
  if (!hasTokens && ofTokens.some((each) => each !== undefined)) {
    throw usageError(
      '--jwt-audience, --jwt-issuer, --jwt-scope, --jwt-scope-claim and --jwt-type are about tokens, and none are accepted',
      'Add --auth-server URL or --jwt-jwks URL',
    );
  }
  if (jwtJwks === undefined && jwtIssuer !== undefined) {
    throw usageError('--jwt-issuer belongs to --jwt-jwks', 'Leave it out: --auth-server is the issuer');
  }
  if (jwtJwks !== undefined && !jwtAudience) {
    throw usageError(
      '--jwt-jwks needs --jwt-audience: tokens for other servers must not be accepted here',
      'Add --jwt-audience NAME, as the authorization server knows this one',
    );
  }
  const authServers = jwtJwks === undefined ? readAuthServers(options) : [];
  checkIntrospection(options, authServers.length > 0);
  if (!apiKey && bearerFile === undefined && jwtJwks === undefined && authServers.length === 0) {
    if (options.denyFile !== undefined) {
      throw usageError('--deny-file names callers, but callers are not authenticated', 'Leave it out');
    }
    return undefined;
  }
  return {
    onWarning,
    ...(apiKey && { apiKeys: apiKey.map(toApiKey) }),
    ...(bearerFile !== undefined && { bearerFile }),
    ...(jwtJwks !== undefined && {
      jwt: {
        jwksUrl: jwtJwks,
        audience: [...jwtAudience!],
        ...(jwtIssuer !== undefined && { issuer: jwtIssuer }),
        ...(jwtScope && { requiredScopes: jwtScope }),
        ...(jwtScopeClaim !== undefined && { scopeClaim: jwtScopeClaim }),
        ...(jwtType !== undefined && { requireType: jwtType }),
      },
    }),
    ...(authServers.length > 0 && { authServers }),
    ...(options.denyFile !== undefined && { denyFile: options.denyFile }),
  };
}

/** Keys can be given out by other means. Then the authorization server is only named to clients. */
function readAuthServers(options: ServeCommandOptions): readonly AuthServerOptions[] {
  const { authServer = [], resource, jwtAudience, jwtScope, apiKey, bearerFile } = options;
  const { jwtScopeClaim, jwtType } = options;
  if (resource === undefined && !jwtAudience) {
    if (authServer.length === 0 || apiKey || bearerFile !== undefined) return [];
    throw usageError(
      '--auth-server needs to know which tokens are for this server',
      'Add --resource URL, the address that clients use; or --jwt-audience NAME',
    );
  }
  if (resource !== undefined && !(URL.canParse(resource) && /^https?:/.test(resource))) {
    throw usageError(`--resource must be a URL, got ${resource}`, 'For example https://tools.example/mcp');
  }
  const { introspectClient: clientId, introspectSecretFile: file, introspectUrl: endpoint } = options;
  return authServer.map((issuer) => ({
    issuer,
    ...(resource !== undefined && { resource }),
    ...(jwtAudience && { audience: jwtAudience }),
    ...(jwtScope && { requiredScopes: jwtScope }),
    ...(jwtScopeClaim !== undefined && { scopeClaim: jwtScopeClaim }),
    ...(jwtType !== undefined && { requireType: jwtType }),
    ...(clientId !== undefined &&
      file !== undefined && {
        introspection: { clientId, clientSecret: { file }, ...(endpoint !== undefined && { endpoint }) },
      }),
  }));
}

function checkIntrospection(options: ServeCommandOptions, hasAuthServer: boolean): void {
  const { introspectClient, introspectSecretFile, introspectUrl, authServer = [] } = options;
  const given = [introspectClient, introspectSecretFile, introspectUrl].some((each) => each !== undefined);
  if (!given) return;
  if (!hasAuthServer) {
    throw usageError(
      'Tokens are introspected at an authorization server, and none is used here',
      'Add --auth-server URL and --resource URL, and leave --jwt-jwks out',
    );
  }
  if (introspectClient === undefined || introspectSecretFile === undefined) {
    throw usageError(
      'Introspection needs the client that asks, and its secret',
      'Add --introspect-client ID --introspect-secret-file FILE',
    );
  }
  if (authServer.length > 1 && introspectUrl !== undefined) {
    throw usageError('--introspect-url cannot belong to two authorization servers', 'Leave it out');
  }
}

/** `NAME=KEY`, or a key alone. A key may end in `=`, as base64 does. */
function toApiKey(text: string): { readonly name?: string; readonly key: string } {
  const [, name, key] = /^([A-Za-z0-9_.-]{1,64})=([^=].*)$/s.exec(text) ?? [];
  return name !== undefined && key !== undefined ? { name, key } : { key: text };
}

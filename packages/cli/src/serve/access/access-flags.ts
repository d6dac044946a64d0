import type { Command } from 'commander';
import { collect } from '../../common-options.js';
import { env } from '../option-values.js';

/** The options of `isthmus serve` about who may call. */
export interface AccessFlags {
  readonly apiKey?: readonly string[];
  readonly bearerFile?: string;
  readonly jwtJwks?: string;
  readonly jwtAudience?: readonly string[];
  readonly jwtIssuer?: string;
  readonly jwtScope?: readonly string[];
  readonly jwtScopeClaim?: string;
  readonly authServer?: readonly string[];
  readonly jwtType?: string;
  readonly mirrorAuthServer?: boolean;
  readonly denyFile?: string;
  readonly introspectClient?: string;
  readonly introspectSecretFile?: string;
  readonly introspectUrl?: string;
  readonly connectClient?: string;
  readonly connectSecretFile?: string;
  readonly loginFolder?: string;
  readonly loginKey?: string;
  readonly resource?: string;
  readonly trustProxy?: readonly string[];
  readonly operator?: readonly string[];
  readonly allowUnauthenticated?: boolean;
  readonly allowOrigin?: readonly string[];
  readonly allowHeader?: readonly string[];
  readonly allowHost?: readonly string[];
}

/** The options about authentication and access. */
export function addAccessOptions(command: Command): void {
  command
    .optionsGroup('Authentication:')
    .addOption(
      env(
        '--api-key <key>',
        'accept clients that send this key; NAME=KEY names the caller; repeatable',
        'API_KEY',
        collect,
      ),
    )
    .addOption(
      env(
        '--bearer-file <file>',
        'accept clients that send a token of this file (NAME: TOKEN, one a line)',
        'BEARER_FILE',
      ),
    )
    .addOption(
      env('--jwt-jwks <url>', 'accept clients that send a JWT signed with one of these keys', 'JWT_JWKS'),
    )
    .addOption(
      env(
        '--jwt-audience <name>',
        'accept only tokens for this audience; needed with --jwt-jwks; repeatable',
        'JWT_AUDIENCE',
        collect,
      ),
    )
    .addOption(env('--jwt-issuer <url>', 'accept only JWTs of this issuer', 'JWT_ISSUER'))
    .option('--jwt-scope <scope>', 'accept only tokens with this scope; repeatable', collect)
    .option(
      '--jwt-scope-claim <name>',
      'the claim that has the scopes of tokens without scope and scp, for example permissions or roles',
    )
    .option(
      '--mirror-auth-server',
      'send clients of 2025-03-26, which look for the authorization server here, to its metadata',
    )
    .option('--jwt-type <type>', 'accept only JWTs of this type (typ), for example at+jwt')
    .option(
      '--deny-file <file>',
      'refuse the credentials, callers and clients that this file names; read again when it has changed',
    )
    .option(
      '--auth-server <url>',
      'accept tokens of this authorization server, and name it to clients (RFC 9728); needs --resource or --jwt-audience; repeatable',
      collect,
    )
    .option(
      '--introspect-client <id>',
      'ask the authorization server about tokens that are not JWTs (RFC 7662), as this client',
    )
    .addOption(
      env(
        '--introspect-secret-file <file>',
        'a file with the secret of that client',
        'INTROSPECT_SECRET_FILE',
      ),
    )
    .option('--introspect-url <url>', 'where to ask, if the authorization server does not publish it')
    .option(
      '--connect-client <id>',
      'the client of this gateway at the authorization server: it finds out who opens a page for a login (per-user)',
    )
    .addOption(
      env('--connect-secret-file <file>', 'a file with the secret of that client', 'CONNECT_SECRET_FILE'),
    )
    .option(
      '--login-folder <folder>',
      'keep the logins of callers (per-user) here, sealed; needs --login-key',
    )
    .addOption(
      env(
        '--login-key <file>',
        'a file with keys of 32 bytes as base64url, one a line; the first seals, all open',
        'LOGIN_KEY_FILE',
      ),
    )
    .option('--resource <url>', 'the public URL of this server, which tokens are for; also behind a proxy')
    .option(
      '--trust-proxy <address>',
      'believe X-Forwarded-Proto, -Host and -For of this address, network or loopback; repeatable',
      collect,
    )
    .addOption(
      env(
        '--operator <caller>',
        'a caller that sees all of /status and /metrics: NAME of a key, or a principal; repeatable',
        'OPERATOR',
        collect,
      ),
    )
    .option(
      '--allow-unauthenticated',
      'serve an address that other machines can reach, without authentication',
    )
    .addOption(
      env(
        '--allow-origin <origin>',
        'web pages of this origin may call (CORS); * for all; repeatable',
        'ALLOW_ORIGIN',
        collect,
      ),
    )
    .option('--allow-header <name>', 'a header that these pages may send, too; repeatable', collect)
    .addOption(
      env('--allow-host <name>', 'a host name that clients may use; repeatable', 'ALLOW_HOST', collect),
    );
}

import type { Command } from 'commander';
import { collect } from '../common-options.js';
import { env } from './env-option.js';

/** Who may come in. */
export function addWho(command: Command): void {
  command
    .optionsGroup('Who may ask:')
    .addOption(
      env(
        '--api-key <key>',
        'let in whoever sends this key; NAME=KEY names the caller; repeatable',
        'API_KEY',
        collect,
      ),
    )
    .addOption(
      env(
        '--bearer-file <file>',
        'let in whoever sends a token of this file (NAME: TOKEN, one a line)',
        'BEARER_FILE',
      ),
    )
    .addOption(
      env('--jwt-jwks <url>', 'let in whoever sends a JWT that is signed with one of these keys', 'JWT_JWKS'),
    )
    .addOption(
      env(
        '--jwt-audience <name>',
        'and is meant for this audience; needed with --jwt-jwks; repeatable',
        'JWT_AUDIENCE',
        collect,
      ),
    )
    .addOption(env('--jwt-issuer <url>', 'and comes from this issuer', 'JWT_ISSUER'))
    .option('--jwt-scope <scope>', 'and has this scope; repeatable', collect)
    .option('--auth-server <url>', 'who gives out tokens, told to clients (RFC 9728); repeatable', collect)
    .option('--resource <url>', 'this server as its clients know it, where it stands behind a proxy')
    .addOption(
      env(
        '--operator <caller>',
        'a caller that sees all of /status and /metrics: NAME of a key, or a principal; repeatable',
        'OPERATOR',
        collect,
      ),
    )
    .option('--allow-unauthenticated', 'serve an address that others can reach without asking who they are')
    .addOption(
      env(
        '--allow-origin <origin>',
        'web pages of this origin may call (CORS); * for all; repeatable',
        'ALLOW_ORIGIN',
        collect,
      ),
    )
    .option('--allow-header <name>', 'a header that such pages may send besides; repeatable', collect)
    .addOption(
      env('--allow-host <name>', 'a name under which it may be asked for; repeatable', 'ALLOW_HOST', collect),
    );
}

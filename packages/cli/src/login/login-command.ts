import type { UrlAuth } from '@isthmus/sdk/internal/config/server-spec.js';
import { loginCommand as loginLine } from '@isthmus/sdk/internal/host/spec-connector.js';
import { Command } from 'commander';
import { CliError, EXIT, usageError } from '../cli-error.js';
import { collect, toInput } from '../common-options.js';
import { processTerminal, writeJson } from '../terminal/terminal.js';
import { type AuthFlags, clientOf, clientOptions } from './auth-options.js';
import { type LoginFlags, loginOptions } from './login-options.js';

export interface LoginCommandOptions extends AuthFlags, LoginFlags {
  readonly config?: readonly string[];
  readonly input?: Readonly<Record<string, string>>;
  readonly status?: boolean;
  readonly printToken?: boolean;
  readonly json?: boolean;
}

export function loginCommand(): Command {
  const command = new Command('login')
    .description('Log in to a remote server (OAuth), for all commands of this user.')
    .usage('URL|NAME [options]\n       isthmus login --status [URL|NAME]')
    .argument('[server]')
    .configureHelp({ visibleArguments: () => [] })
    .option('-c, --config <file>', 'a file that defines NAME; repeatable, later files win', collect)
    .option('--input <id=value>', 'the value of an input:id of the file; repeatable', toInput);
  for (const option of [...clientOptions(), ...loginOptions()]) command.addOption(option);
  return command
    .option('--status', 'show the logins, or the one for a server, without their tokens')
    .option('--print-token', 'print a valid access token of the stored login, for scripts')
    .option('--json', 'print the result as JSON, for programs')
    .addHelpText('after', HELP)
    .showHelpAfterError('(isthmus login --help explains the options)')
    .exitOverride()
    .action(async (server: string | undefined, options: LoginCommandOptions) => {
      const { findLoginServer, listStatus, renderStatus } = await import('./stored-logins.js');
      const terminal = processTerminal();
      if (options.status) {
        const named = server === undefined ? undefined : await findLoginServer('login', server, options);
        const found = await listStatus(named?.url);
        if (options.json) writeJson(terminal, found);
        else terminal.stdout.write(renderStatus(found, terminal));
        return;
      }
      if (server === undefined) throw usageError('No server given', 'isthmus login https://example.com/mcp');
      const { url, auth } = await findLoginServer('login', server, options);
      if (options.printToken) return printToken(url, { ...auth, ...clientOf(options) });
      const { runLogin } = await import('./run-login.js');
      const say = (line: string) => void terminal.stderr.write(`isthmus: ${line}\n`);
      const { openLoginManager } = await import('./open-login-manager.js');
      const status = await runLogin(url, options, {
        ...{ say, input: process.stdin, logins: await openLoginManager(), configured: auth },
      });
      // A terminal that is read would keep the process alive.
      process.stdin.destroy();
      if (options.json) writeJson(terminal, status);
      else say(`Logged in to ${status.server} (${status.issuer})`);
    });
}

/** Only on request, and only on stdout. */
async function printToken(url: string, client: Omit<UrlAuth, 'mode'>): Promise<void> {
  const { openLoginManager } = await import('./open-login-manager.js');
  const auth = { mode: 'stored', ...client } as const;
  const { authorization } = await (await openLoginManager()).authorization({ url, auth });
  if (authorization === undefined) {
    const hint = loginLine(url);
    throw new CliError(EXIT.needsLogin, 'There is no login for this server', { hint });
  }
  process.stdout.write(`${authorization.replace(/^Bearer /, '')}\n`);
}

export interface LogoutCommandOptions extends Pick<LoginCommandOptions, 'config' | 'input'> {
  readonly all?: boolean;
  readonly forgetClient?: boolean;
}

export function logoutCommand(): Command {
  return new Command('logout')
    .description('Revoke and forget the login for a remote server.')
    .usage('URL|NAME [options]\n       isthmus logout --all')
    .argument('[server]')
    .configureHelp({ visibleArguments: () => [] })
    .option('-c, --config <file>', 'a file that defines NAME; repeatable, later files win', collect)
    .option('--input <id=value>', 'the value of an input:id of the file; repeatable', toInput)
    .option('--all', 'all logins of this user')
    .option('--forget-client', 'also forget the registration of the client at the authorization server')
    .addHelpText('after', LOGOUT_HELP)
    .showHelpAfterError('(isthmus logout --help explains the options)')
    .exitOverride()
    .action(async (server: string | undefined, options: LogoutCommandOptions) => {
      if ((server === undefined) === (options.all !== true)) {
        throw usageError('Give one server, or --all', 'isthmus logout https://example.com/mcp');
      }
      const { endLogins, findLoginServer } = await import('./stored-logins.js');
      const named = server === undefined ? undefined : await findLoginServer('logout', server, options);
      const ended = await endLogins(named?.url, options.forgetClient === true);
      for (const each of ended) process.stderr.write(`isthmus: Logged out of ${each}\n`);
      if (ended.length === 0) process.stderr.write('isthmus: There is no such login\n');
    });
}

const HELP = `
The login is kept in a file that only you can read, and renewed when it is used. The page of the login is always
printed. A browser is opened on this machine, unless this is an SSH session, a container, or a system without a
display: then open the page elsewhere, and paste the address that the browser ends at.

Examples:
  isthmus login https://example.com/mcp
  isthmus login https://example.com/mcp --no-browser
  isthmus login https://example.com/mcp --client-id my-client --callback-port 8976
  isthmus login --status --json
  curl -H "Authorization: Bearer $(isthmus login https://example.com/mcp --print-token)" https://example.com/mcp

Exit codes:
  0  success
  2  the command line or the configuration file is invalid
  3  the server, or its authorization server, cannot be reached
  5  the login failed, was not finished in time, or (--print-token) there is none
  130  interrupted by Ctrl-C`;

const LOGOUT_HELP = `
The tokens are revoked where the authorization server allows that.

Exit codes:
  0  success, also if there was no login
  2  the command line or the configuration file is invalid`;

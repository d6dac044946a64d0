import type { Command } from 'commander';
import { usageError } from '../cli-error.js';
import { quote, targetAt } from '../target.js';
import { type CommandLine, type CompatFlags, type DraftLine, headerFile } from './flags.js';
import { MCP_PROXY } from './mcp-proxy.js';
import { MCP_REMOTE } from './mcp-remote.js';
import { PYTHON_MCP_PROXY } from './python-mcp-proxy.js';
import { inShell } from './split-command.js';
import { SUPERGATEWAY } from './supergateway.js';
import { type Translation, translate } from './translate.js';

/** Translates the options of other programs to those of our command `name`. */
export async function toOurOptions(name: string, command: Command, line: CommandLine): Promise<CommandLine> {
  const tools = TRANSLATIONS[name] ?? { flags: {}, plainArguments: 'ours' };
  const draft = await translate(line, { command, isProgram, ...tools });
  return finish(draft, line.afterDashes);
}

export const SERVE_FLAGS: CompatFlags = {
  ...MCP_PROXY,
  ...PYTHON_MCP_PROXY,
  ...SUPERGATEWAY,
  'header-file': headerFile,
};

const TRANSLATIONS: Readonly<Record<string, Pick<Translation, 'flags' | 'plainArguments' | 'toOurs'>>> = {
  serve: { flags: SERVE_FLAGS, plainArguments: 'command' },
  attach: { flags: MCP_REMOTE, plainArguments: 'ours', toOurs: callbackPort },
};

/** mcp-remote takes the port of its OAuth callback after the URL. */
function callbackPort(arg: string, before: readonly string[]): readonly string[] {
  const isPort = /^\d{1,5}$/.test(arg) && before.some((each) => targetAt(each));
  return isPort ? ['--callback-port', arg] : [arg];
}

async function isProgram(name: string): Promise<boolean> {
  const { findProgram } = await import('../config/check-servers.js');
  return (await findProgram(name, { env: process.env, cwd: process.cwd() })).kind === 'found';
}

/** Adds the options that depend on the whole line. */
function finish(draft: DraftLine, afterDashes: readonly string[] | undefined): CommandLine {
  const { args } = draft;
  if (afterDashes && draft.command) {
    throw usageError(
      `Two commands: ${draft.command.map(quote).join(' ')}, and the one after --`,
      'Give one of them',
    );
  }
  const command = afterDashes ?? draft.command;
  const { ambiguousEnv } = draft;
  if (ambiguousEnv !== undefined && !afterDashes && !args.some((arg) => isOneOf(arg, TARGETS))) {
    throw usageError(
      `The argument after --env ${ambiguousEnv} may be its value or the command`,
      `Write --env ${ambiguousEnv}=VALUE, and put a command after --: isthmus serve … -- COMMAND ARGS…`,
    );
  }
  if (draft.endpoint !== undefined)
    args.push(draft.server === 'sse' ? '--sse-path' : '--path', draft.endpoint);
  const hasAddress = draft.wantsHttp || args.some((arg) => isOneOf(arg, ADDRESSES));
  if (draft.stdioByDefault && !hasAddress) args.push('--listen', 'stdio');
  if (!draft.shell) return { args, afterDashes: command };
  if (!command) throw usageError('--shell needs a command', 'isthmus serve --shell -- COMMAND');
  return { args, afterDashes: inShell(command.join(' ')) };
}

/** Whether the argument is one of these options; its value may be part of it. */
function isOneOf(arg: string, names: readonly string[]): boolean {
  return (
    names.includes(arg.split('=', 1)[0]!) || names.some((name) => /^-\w$/.test(name) && arg.startsWith(name))
  );
}

const TARGETS = ['--upstream', '-u', '--config', '-c', '--import', '--named-server'];
const ADDRESSES = ['--listen', '-l', '--port', '-p', '--host', '--path'];

import type { Command } from 'commander';
import { usageError } from '../cli-error.js';
import { findProgram } from '../config/check-servers.js';
import { targetAt } from '../target.js';
import type { CommandLine, ToolFlags } from './habit.js';
import { MCP_PROXY } from './mcp-proxy.js';
import { MCP_REMOTE } from './mcp-remote.js';
import { NO_OAUTH, OAUTH_HINT } from './no-oauth.js';
import { PYTHON_MCP_PROXY } from './python-mcp-proxy.js';
import { SUPERGATEWAY } from './supergateway.js';
import { type Translation, translate } from './translate.js';
import { headerFile } from './words.js';

/** What was typed for a command of ours by somebody who knows another program, in our words. */
export function inOurWords(name: string, command: Command, line: CommandLine): Promise<CommandLine> {
  return translate(line, { command, isProgram, ...(TRANSLATIONS[name] ?? { habits: {}, words: 'ours' }) });
}

export const SERVE_HABITS: ToolFlags = {
  ...MCP_PROXY,
  ...PYTHON_MCP_PROXY,
  ...SUPERGATEWAY,
  'header-file': headerFile,
};

const TRANSLATIONS: Readonly<Record<string, Pick<Translation, 'habits' | 'words' | 'checkWord'>>> = {
  serve: { habits: SERVE_HABITS, words: 'command' },
  attach: { habits: MCP_REMOTE, words: 'ours', checkWord: refuseCallbackPort },
};

/** mcp-remote takes the port of its login behind the URL. */
function refuseCallbackPort(word: string, before: readonly string[]): void {
  if (/^\d{1,5}$/.test(word) && before.some((each) => targetAt(each))) throw usageError(NO_OAUTH, OAUTH_HINT);
}

async function isProgram(name: string): Promise<boolean> {
  return (await findProgram(name, { env: process.env, cwd: process.cwd() })).kind === 'found';
}

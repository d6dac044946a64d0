import type { CheckOptions, CheckTarget as Judged } from '@isthmus/check';
import {
  checkThrough,
  startBridge,
  type ThroughReport,
} from '@isthmus/check/internal/through/check-through.js';
import { given } from '@isthmus/sdk/internal/config/server-spec.js';
import { splitCommand } from '../compat/split-command.js';
import { type CommandTarget, withSettings } from '../target.js';
import type { CheckCommandOptions } from './check-options.js';

/** Judges the target by itself and behind the bridge of `--through`, which lives as long as that takes. */
export async function runThrough(
  target: CommandTarget,
  direct: Judged,
  options: CheckCommandOptions,
  run: CheckOptions,
): Promise<ThroughReport> {
  const { cwd, env } = options;
  const server = target.kind === 'command' ? withSettings(target, { cwd, env }) : undefined;
  const bridge = await startBridge({
    words: bridgeWords(options.through!, target.kind === 'command'),
    server: serverOf(target),
    // The same as the target gets by itself: the server that it starts is to be the same server.
    env: server?.env ?? {},
    ...given({ inheritEnv: server?.inheritEnv, cwd: server?.cwd }),
    ...(options.throughPath !== undefined && { path: options.throughPath }),
  });
  try {
    return await checkThrough(direct, bridge.target, run);
  } finally {
    await bridge.close();
  }
}

function serverOf(target: CommandTarget): { readonly command?: readonly string[]; readonly url?: string } {
  if (target.kind === 'command') return { command: [target.command, ...target.args] };
  return { url: target.kind === 'url' ? target.url : target.address };
}

/**
 * The words of `--through`. What stands for the target and the port is not shell syntax, although it looks like it;
 * where it does not name the target, that comes last.
 */
export function bridgeWords(
  text: string,
  isCommand: boolean,
  platform = process.platform,
): readonly string[] {
  const isNamed = /\{(command(\.\.\.)?|url)\}/.test(text);
  const whole = isNamed ? text : `${text} ${isCommand ? '-- {command...}' : '{url}'}`;
  const hidden = PLACES.reduce((line, place, at) => line.replaceAll(place, mark(at)), whole);
  const words = splitCommand(text.trim() === '' ? text : hidden, '--through', platform);
  return words.map((word) => PLACES.reduce((shown, place, at) => shown.replaceAll(mark(at), place), word));
}

const PLACES = ['{command...}', '{command}', '{url}', '{port}'];

/** A character for private use. People do not type it, and shells do not interpret it. */
function mark(at: number): string {
  return String.fromCharCode(0xe000 + at);
}

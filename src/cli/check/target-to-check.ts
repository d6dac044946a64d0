import { commandTarget, httpTarget, type Target as Judged, socketTarget } from '../../check/index.js';
import { usageError } from '../cli-error.js';
import type { CommonOptions } from '../common-options.js';
import { headersOf, type Target } from '../target.js';

/** Whom the referee talks to, from what was typed. */
export function targetToCheck(target: Target, { cwd, env, header = [] }: CommonOptions): Judged {
  if (target.kind !== 'url' && header.length > 0) {
    throw usageError('--header is for a URL', 'A command is given what it needs with --env');
  }
  if (target.kind !== 'command' && (cwd !== undefined || env)) {
    throw usageError(
      `${cwd === undefined ? '--env' : '--cwd'} is for a command`,
      'The server there was started by somebody else',
    );
  }
  if (target.kind === 'socket') return socketTarget(target.address);
  if (target.kind === 'url') {
    const { url, configured } = target;
    return httpTarget(url, {
      headers: { ...configured?.headers, ...headersOf(header) },
      ...(configured && { label: configured.name }),
    });
  }
  const { command, args, configured } = target;
  const folder = cwd ?? configured?.cwd;
  return commandTarget({
    command,
    args,
    env: { ...configured?.env, ...env },
    ...(configured && { label: configured.name }),
    ...(folder !== undefined && { cwd: folder }),
    ...(configured?.inheritEnv !== undefined && { inheritEnv: configured.inheritEnv }),
  });
}

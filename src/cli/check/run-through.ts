import type { CheckOptions, Target as Judged } from '../../check/index.js';
import { checkThrough, type ThroughReport } from '../../check/through/check-through.js';
import { startBridge } from '../../check/through/start-bridge.js';
import type { Target } from '../target.js';
import { bridgeWords } from './bridge-words.js';
import type { CheckCommandOptions } from './check-options.js';

/** Judges the target by itself and behind the bridge of `--through`, which lives as long as that takes. */
export async function runThrough(
  target: Target,
  direct: Judged,
  options: CheckCommandOptions,
  run: CheckOptions,
): Promise<ThroughReport> {
  const configured = target.kind === 'command' ? target.configured : undefined;
  const folder = options.cwd ?? configured?.cwd;
  const bridge = await startBridge({
    words: bridgeWords(options.through!, target.kind === 'command'),
    server: serverOf(target),
    // The same as the target gets by itself: the server that it starts is to be the same server.
    env: { ...configured?.env, ...options.env },
    ...(configured?.inheritEnv !== undefined && { inheritEnv: configured.inheritEnv }),
    ...(folder !== undefined && { cwd: folder }),
    ...(options.throughPath !== undefined && { path: options.throughPath }),
  });
  try {
    return await checkThrough(direct, bridge.target, run);
  } finally {
    await bridge.close();
  }
}

function serverOf(target: Target): { readonly command?: readonly string[]; readonly url?: string } {
  if (target.kind === 'command') return { command: [target.command, ...target.args] };
  return { url: target.kind === 'url' ? target.url : target.address };
}

import type { TypedServe } from './serve/run-serve.js';

/** What `isthmus serve --listen stdio -- COMMAND ARGS…` has typed. */
export interface PlainCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly isQuiet: boolean;
}

/**
 * Finds the command of a line that has no options besides `--listen stdio` and `--quiet`, where no variable adds others.
 * Such a line has no mistakes that a parser could report.
 */
export function findPlainCommand(
  typed: readonly string[],
  env: Readonly<Record<string, string | undefined>> = process.env,
): PlainCommand | undefined {
  const dashes = typed.indexOf('--');
  const command = typed[dashes + 1];
  if (typed[0] !== 'serve' || dashes < 0 || !command) return undefined;
  const options = typed.slice(1, dashes).join('\0');
  if (!PLAIN.test(options) || Object.keys(env).some((name) => OURS.test(name))) return undefined;
  return { command, args: typed.slice(dashes + 2), isQuiet: QUIET.test(options) };
}

/** An argument cannot contain `\0`, which stands between two. */
const PLAIN = /^(?:(?:-q|--quiet)\0)?(?:-l\0|--listen[\0=])stdio(?:\0(?:-q|--quiet))?$/;
const QUIET = /-q|--quiet/;
/** Windows does not tell small letters from large ones. */
const OURS = /^ISTHMUS_/i;

/** Starts the command, and loads the rest of the program while it boots. `prepare` is run in between. */
export async function servePlainCommand(
  { command, args, isQuiet }: PlainCommand,
  prepare: () => void,
): Promise<void> {
  const { startEarly } = await import('@isthmus/sdk/internal/process/start-process.js');
  startEarly({ command, args, env: {}, cwd: process.cwd() });
  prepare();
  const { commandTarget } = await import('./target.js');
  const { runServe } = await import('./serve/run-serve.js');
  await runServe(typedServe(commandTarget(command, args), isQuiet));
}

/** What the parser would have made of the line. */
export function typedServe(target: TypedServe['target'], isQuiet: boolean): TypedServe {
  const listen = ['stdio'];
  return {
    target,
    options: { listen, sse: true, watch: true, control: true, record: true, ...(isQuiet && { quiet: true }) },
    isTyped: (name) => name === 'listen' || (name === 'quiet' && isQuiet),
  };
}

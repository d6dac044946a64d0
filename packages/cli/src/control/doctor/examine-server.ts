import type { GatewayServerStatus } from '@isthmus/gateway/internal/server-state.js';
import type { ServerEntry } from '@isthmus/sdk/internal/config/index.js';
import { noiseOnStdout } from '../../probe/oddities.js';
import { quote } from '../../target.js';
import { oneLine, printable } from '../../terminal/text.js';
import { isWell, whyOf } from '../render-server.js';
import { checkCommand, describeLookUp, type LookedUp } from './check-command.js';
import type { Diagnosis, Problem, ProblemCode } from './diagnosis.js';
import { interpretStderr, quotedLine } from './interpret-stderr.js';

export interface ExaminedServer {
  readonly where: string;
  readonly now: number;
  /** Its definition, when the file is known. Then the checks that need no start are done, too. */
  readonly entry: ServerEntry | undefined;
  /** Looks for a command on the PATH of this process. The gateway may have another PATH. */
  readonly lookUp: (command: string) => LookedUp;
}

/** Examines a server by what its gateway reports. It is not started a second time. */
export function examineServer(
  status: GatewayServerStatus,
  { where, now, entry, lookUp }: ExaminedServer,
): Diagnosis {
  const { name, state, era, evidence, server, processes } = status;
  const tail = printable(processes?.lastExit?.stderrTail ?? '').split('\n');
  const stderr = tail.filter((line) => line.trim() !== '').slice(-TAIL_LINES);
  const about = {
    name,
    where,
    how: 'asked the gateway',
    ...(era && { era }),
    ...(evidence !== undefined && { because: evidence }),
    ...(server && { server: `${server.name} ${server.version}` }),
    odd: noiseOnStdout((processes?.processes ?? []).reduce((sum, { noise = 0 }) => sum + noise, 0)),
  } as const;
  if (state === 'off') return { ...about, health: 'off', problems: [], stderr: [] };
  if (isWell(status)) return { ...about, health: 'well', problems: [], stderr: [] };
  const why = whyOf(status, now) || `it is ${state}`;
  const told = [
    ...(entry?.kind === 'command' ? checkCommand(entry) : []),
    ...present(notFound(why, lookUp)),
    ...present(interpretStderr([...quotedLine(why), ...stderr])),
  ].slice(0, 1);
  const code = codeOf(status, why);
  const own: Problem = {
    code,
    message: sentence(why),
    advice: told.length > 0 ? '' : adviceFor(status, code),
  };
  return { ...about, health: 'ill', problems: [...told, own], stderr };
}

const TAIL_LINES = 10;

const LOGIN_ADVICE =
  'Log in as the user who runs the gateway. It notices the login, and need not be started again';

/** A common case: the shell finds the command, and a gateway that was started elsewhere does not. */
function notFound(why: string, lookUp: ExaminedServer['lookUp']): Problem | undefined {
  const command = /command not found: (.+?) \(ENOENT\)/.exec(why.slice(0, 2000))?.[1];
  if (command === undefined) return undefined;
  const found = lookUp(command);
  return {
    code: 'command-not-found',
    message: `The gateway does not find ${oneLine(command)}`,
    advice:
      found.kind === 'found'
        ? `It is at ${oneLine(found.path)}, but not on the PATH of the gateway: write the full path, or give the server "env": { "PATH": "…" }`
        : (describeLookUp(command, found)?.advice ?? 'Check the spelling, or give the full path'),
  };
}

function codeOf({ kind, state, processes }: GatewayServerStatus, why: string): ProblemCode {
  if (/command not found/.test(why)) return 'command-not-found';
  if (/working directory/.test(why)) return 'folder-missing';
  if (/first list/.test(why)) return 'list-fails';
  if (/not answered|did not answer/.test(why)) return 'silent';
  if (state === 'needs-login') return 'needs-login';
  if (kind === 'url') return 'unreachable';
  return processes?.lastExit && state !== 'starting' ? 'exits' : 'other';
}

function adviceFor({ name, state, kind }: GatewayServerStatus, code: ProblemCode): string {
  if (code === 'folder-missing') return 'Make the folder, or correct cwd';
  if (state === 'starting' || state === 'restarting') return 'Wait a moment, then run isthmus doctor again';
  if (code === 'needs-login') return LOGIN_ADVICE;
  if (kind === 'url') return 'Check that the server runs, and that the URL and the headers are right';
  return `isthmus logs ${quote(oneLine(name))} shows its output; after fixing the cause, run isthmus restart ${quote(oneLine(name))}`;
}

function sentence(text: string): string {
  return /^(?:could|stopped|was) /.test(text) ? `It ${text}` : text.charAt(0).toUpperCase() + text.slice(1);
}

function present(problem: Problem | undefined): Problem[] {
  return problem ? [problem] : [];
}

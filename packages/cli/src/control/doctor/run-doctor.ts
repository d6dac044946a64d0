import type { FoundGateway } from '@isthmus/gateway/internal/control/index.js';
import { suggest } from '../../arguments/suggest.js';
import { CliError, EXIT, usageError } from '../../cli-error.js';
import { writeJson } from '../../terminal/terminal.js';
import { oneLine } from '../../terminal/text.js';
import { type ControlContext, type ControlOptions, withGateway } from '../control-command.js';
import { choose, findGateways, isFolder, noGateway } from '../find-gateway.js';
import { lookUpCommand } from './check-command.js';
import { type Diagnosis, renderDiagnosis, summarize } from './diagnosis.js';
import { SeenViews } from './examine-apps.js';
import { examineEntry } from './examine-entry.js';
import { examineServer } from './examine-server.js';
import { type FileServers, readFileServers } from './file-servers.js';

export interface DoctorOptions extends ControlOptions {
  readonly config?: readonly string[];
  readonly input?: Readonly<Record<string, string>>;
  readonly timeout: number;
}

/** Examines the servers of the running gateways, and the servers of files that no gateway runs. */
export async function runDoctor(
  name: string | undefined,
  options: DoctorOptions,
  context: ControlContext & { readonly signal?: AbortSignal },
): Promise<number> {
  const { terminal } = context;
  const found = await askGateways(options, context);
  const running = choose(found, options);
  const isAlone = running.length === 0;
  if (isAlone && options.pid !== undefined) throw noGateway(found, options);
  const fromFiles =
    options.config || isAlone ? await readFileServers(options.config, options.input) : NO_FILES;
  const faults = [...faultsOf(found), ...fromFiles.problems];
  const interruption = interruptible(context.signal);
  const work = plan(name, running, fromFiles, { timeoutMs: options.timeout, signal: interruption.signal });
  if (work.length === 0 && (isAlone || name !== undefined)) throw nothing(name, running, fromFiles, faults);
  const diagnoses: Diagnosis[] = [];
  const views = new SeenViews();
  try {
    for await (const examined of inOrder(work, AT_ONCE)) {
      if (interruption.signal.aborted) break;
      const diagnosis = views.note(examined);
      diagnoses.push(diagnosis);
      if (!options.json) terminal.stdout.write(`${renderDiagnosis(diagnosis, terminal)}\n`);
    }
  } finally {
    interruption.release();
  }
  if (interruption.signal.aborted) throw new CliError(EXIT.interrupted, 'Interrupted');
  const isWell = faults.length === 0 && diagnoses.every(({ health }) => health !== 'ill');
  if (options.json) writeJson(terminal, { well: isWell, faults, servers: diagnoses });
  else {
    for (const fault of faults) terminal.stdout.write(`${terminal.out.red(fault)}\n`);
    terminal.stdout.write(`${summarize(diagnoses)}\n`);
  }
  return isWell ? EXIT.ok : EXIT.failed;
}

/** Servers that are tried at the same time. */
const AT_ONCE = 4;
const NO_FILES: FileServers = { files: [], entries: [], invalid: [], problems: [], whereOf: () => '' };

/** The gateway of `--socket`, which must answer; otherwise all gateways. */
async function askGateways(
  options: DoctorOptions,
  context: ControlContext,
): Promise<readonly FoundGateway[]> {
  const { socket } = options;
  if (socket === undefined || isFolder(socket)) return findGateways(options, context.address);
  const status = await withGateway(options, context, (client) => client.status());
  return [{ name: socket, path: socket, isDaemon: false, status }];
}

function faultsOf(found: readonly FoundGateway[]): string[] {
  return found.flatMap(({ path, status, problem }) => {
    if (!status) return [`The gateway at ${path} does not answer: ${oneLine(problem)}`];
    const { pid, configProblem } = status;
    return configProblem === undefined
      ? []
      : [
          `The configuration of the gateway (pid ${pid}) was changed and rejected; the old one is in use: ${oneLine(configProblem)}`,
        ];
  });
}

/** How to examine each server. A server that a gateway runs is never started a second time. */
function plan(
  name: string | undefined,
  running: readonly FoundGateway[],
  { files, entries, invalid, whereOf }: FileServers,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): (() => Promise<Diagnosis>)[] {
  const isMeant = (each: { readonly name: string }) => name === undefined || each.name === name;
  const known = new Map(entries.map((entry) => [entry.name, entry]));
  const servers = running.flatMap(({ status, isDaemon }) =>
    Object.values(status!.servers).map((server) => ({
      server,
      where: `${isDaemon ? 'daemon of isthmus attach' : 'gateway'} ${status!.pid}`,
    })),
  );
  const taken = new Set(servers.map(({ server }) => server.name));
  const lookUp = (command: string) => lookUpCommand(command, process.env);
  return [
    ...servers
      .filter(({ server }) => isMeant(server))
      .map(
        ({ server, where }) =>
          async () =>
            examineServer(server, { where, now: Date.now(), entry: known.get(server.name), lookUp }),
      ),
    ...entries
      .filter((entry) => isMeant(entry) && !taken.has(entry.name))
      .map((entry) => () => examineEntry(entry, whereOf(entry), { files, timeoutMs, signal })),
    ...invalid.filter((each) => isMeant(each) && !taken.has(each.name)).map((each) => async () => each),
  ];
}

function nothing(
  name: string | undefined,
  running: readonly FoundGateway[],
  { entries, invalid }: FileServers,
  faults: readonly string[],
): CliError {
  const names = [
    ...running.flatMap(({ status }) => Object.keys(status!.servers)),
    ...[...entries, ...invalid].map((each) => each.name),
  ];
  if (name !== undefined && (names.length > 0 || running.length > 0)) {
    const meant = suggest(name, names);
    return usageError(
      `There is no server "${oneLine(name)}" to examine`,
      meant === undefined ? undefined : `Did you mean ${oneLine(meant)}?`,
      names.length > 0 ? ['servers:', ...names.map((each) => `  ${oneLine(each)}`)] : [],
    );
  }
  return new CliError(
    EXIT.cannotConnect,
    'There are no servers to examine, and no gateway of this user is running',
    {
      hint: 'isthmus doctor --config FILE examines the servers of a file',
      evidence: faults,
    },
  );
}

/** Ctrl-C ends the started servers, and then the command. */
function interruptible(given: AbortSignal | undefined) {
  const controller = new AbortController();
  const stop = () => controller.abort(new Error('the user interrupted it'));
  given?.addEventListener('abort', stop);
  process.once('SIGINT', stop);
  return {
    signal: controller.signal,
    release() {
      process.off('SIGINT', stop);
      given?.removeEventListener('abort', stop);
    },
  };
}

/** Runs the work, `atOnce` at a time, and yields the results in the given order. */
export async function* inOrder<T>(work: readonly (() => Promise<T>)[], atOnce: number): AsyncGenerator<T> {
  const begun: Promise<T>[] = [];
  const begin = () => {
    const next = work[begun.length];
    if (!next) return;
    const doing = next();
    // It is awaited in its turn. Until then a rejection must not count as unhandled.
    doing.catch(() => {});
    begun.push(doing);
    void doing.then(begin, begin);
  };
  for (let at = 0; at < atOnce; at += 1) begin();
  for (let at = 0; at < work.length; at += 1) yield await begun[at]!;
}

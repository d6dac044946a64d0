import { type FoundGateway, listGateways } from '@isthmus/gateway/internal/control/index.js';
import { suggest } from '../../arguments/suggest.js';
import { CliError, usageError } from '../../cli-error.js';
import { EXIT } from '../../exit-codes.js';
import { writeJson } from '../../terminal/terminal.js';
import { oneLine } from '../../terminal/text.js';
import { type ControlContext, type ControlOptions, withGateway } from '../control-command.js';
import { choose, noGateway } from '../find-gateway.js';
import type { Diagnosis } from './diagnosis.js';
import { examineEntry } from './examine-entry.js';
import { examineServer } from './examine-server.js';
import { lookUpCommand } from './look-up-command.js';
import { type Patients, readPatients } from './patients.js';
import { renderDiagnosis, summarize } from './render-doctor.js';

export interface DoctorOptions extends ControlOptions {
  readonly config?: readonly string[];
  readonly input?: Readonly<Record<string, string>>;
  readonly timeout: number;
}

/** Looks at the servers of the running gateways, and at those of files that no gateway runs. */
export async function runDoctor(
  name: string | undefined,
  options: DoctorOptions,
  context: ControlContext & { readonly signal?: AbortSignal },
): Promise<number> {
  const { terminal } = context;
  const found = await findGateways(options, context);
  const running = choose(found, options);
  const isAlone = running.length === 0;
  if (isAlone && options.pid !== undefined) throw noGateway(found, options.pid);
  const patients =
    options.config || isAlone ? await readPatients(options.config, options.input) : NO_PATIENTS;
  const faults = [...faultsOf(found), ...patients.problems];
  const interruption = interruptible(context.signal);
  const work = plan(name, running, patients, { timeoutMs: options.timeout, signal: interruption.signal });
  if (work.length === 0 && (isAlone || name !== undefined)) throw nothing(name, running, patients, faults);
  const diagnoses: Diagnosis[] = [];
  try {
    for await (const diagnosis of inOrder(work, AT_ONCE)) {
      if (interruption.signal.aborted) break;
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
const NO_PATIENTS: Patients = { files: [], entries: [], hopeless: [], problems: [], whereOf: () => '' };

/** One that was named must be there; otherwise all that are found. */
async function findGateways(
  options: DoctorOptions,
  context: ControlContext,
): Promise<readonly FoundGateway[]> {
  const { socket } = options;
  if (socket === undefined) return listGateways(context.place);
  const status = await withGateway(options, context, (client) => client.status());
  return [{ name: socket, path: socket, status }];
}

function faultsOf(found: readonly FoundGateway[]): string[] {
  return found.flatMap(({ path, status, problem }) => {
    if (!status) return [`The gateway at ${path} cannot be asked: ${oneLine(problem)}`];
    const { pid, configProblem } = status;
    return configProblem === undefined
      ? []
      : [
          `The configuration of the gateway (pid ${pid}) was changed and not taken over: ${oneLine(configProblem)}`,
        ];
  });
}

/** What is to be looked at, and how. A server that a gateway runs is never started a second time. */
function plan(
  name: string | undefined,
  running: readonly FoundGateway[],
  { files, entries, hopeless, whereOf }: Patients,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): (() => Promise<Diagnosis>)[] {
  const isMeant = (each: { readonly name: string }) => name === undefined || each.name === name;
  const known = new Map(entries.map((entry) => [entry.name, entry]));
  const units = running.flatMap(({ status }) =>
    Object.values(status!.servers).map((unit) => ({ unit, where: `gateway ${status!.pid}` })),
  );
  const taken = new Set(units.map(({ unit }) => unit.name));
  const lookUp = (command: string) => lookUpCommand(command, process.env);
  return [
    ...units
      .filter(({ unit }) => isMeant(unit))
      .map(
        ({ unit, where }) =>
          async () =>
            examineServer(unit, { where, now: Date.now(), entry: known.get(unit.name), lookUp }),
      ),
    ...entries
      .filter((entry) => isMeant(entry) && !taken.has(entry.name))
      .map((entry) => () => examineEntry(entry, whereOf(entry), { files, timeoutMs, signal })),
    ...hopeless.filter((each) => isMeant(each) && !taken.has(each.name)).map((each) => async () => each),
  ];
}

function nothing(
  name: string | undefined,
  running: readonly FoundGateway[],
  { entries, hopeless }: Patients,
  faults: readonly string[],
): CliError {
  const names = [
    ...running.flatMap(({ status }) => Object.keys(status!.servers)),
    ...[...entries, ...hopeless].map((each) => each.name),
  ];
  if (name !== undefined && (names.length > 0 || running.length > 0)) {
    const meant = suggest(name, names);
    return usageError(
      `There is no server "${oneLine(name)}" to look at`,
      meant === undefined ? undefined : `Did you mean ${oneLine(meant)}?`,
      names.length > 0 ? ['servers:', ...names.map((each) => `  ${oneLine(each)}`)] : [],
    );
  }
  return new CliError(
    EXIT.cannotConnect,
    'There are no servers to look at, and no gateway of yours is running',
    {
      hint: 'isthmus doctor --config FILE looks at the servers of a file',
      evidence: faults,
    },
  );
}

/** Ctrl-C ends what was started, and then us. */
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

/** Does so many things at the same time, and gives what came of them in the order in which they were given. */
export async function* inOrder<T>(work: readonly (() => Promise<T>)[], atOnce: number): AsyncGenerator<T> {
  const begun: Promise<T>[] = [];
  const begin = () => {
    const next = work[begun.length];
    if (!next) return;
    const doing = next();
    // Looked at in its turn; until then it must not count as forgotten.
    doing.catch(() => {});
    begun.push(doing);
    void doing.then(begin, begin);
  };
  for (let at = 0; at < atOnce; at += 1) begin();
  for (let at = 0; at < work.length; at += 1) yield await begun[at]!;
}

import { messageOf } from '@isthmus/sdk/internal/errors.js';
import type { CheckCatalogue, CheckProgress, CheckRequest, CheckRun, FindingView } from '../contract.js';
import { ConsoleError, notFound } from '../http/console-error.js';
import { Announcer } from '../stores/announcer.js';

/** Runs the referee on one server. The command line hands it over. */
export interface CheckRunner {
  readonly suites: CheckCatalogue['suites'];
  readonly startsCopies: boolean;
  /** Settles with the report of `isthmus check --json`. A stopped run has the findings until then. */
  run(
    request: CheckRequest,
    onFinding: (finding: FindingView, done: number, of: number) => void,
    signal: AbortSignal,
  ): Promise<{ readonly grade?: string | undefined; readonly report: unknown }>;
}

/** The runs of the referee in this session. One at a time. */
export class CheckStore {
  readonly changes = new Announcer<CheckProgress>();
  readonly #runs = new Map<number, Run>();
  #count = 0;

  begin(runner: CheckRunner, request: CheckRequest): number {
    if ([...this.#runs.values()].some(({ progress }) => progress.state === 'running'))
      throw new ConsoleError(409, 'BUSY', 'A check is running: stop it first, or wait for its end');
    this.#count += 1;
    const id = this.#count;
    const run: Run = {
      progress: { id, state: 'running', done: 0, of: 0, counts: {} },
      findings: [],
      report: undefined,
      stop: new AbortController(),
    };
    this.#runs.set(id, run);
    if (this.#runs.size > MAX_RUNS) this.#runs.delete(this.#runs.keys().next().value!);
    void this.#follow(runner, request, run);
    return id;
  }

  get(id: number): CheckRun {
    const { progress, findings, report } = this.#find(id);
    return { ...progress, findings, ...(report !== undefined && { report }) };
  }

  stop(id: number): void {
    const { progress, stop } = this.#find(id);
    if (progress.state !== 'running') throw new ConsoleError(409, 'GONE', 'This check is over');
    stop.abort();
  }

  all(): readonly CheckProgress[] {
    return [...this.#runs.values()].map(({ progress }) => progress);
  }

  close(): void {
    for (const { stop } of this.#runs.values()) stop.abort();
  }

  async #follow(runner: CheckRunner, request: CheckRequest, run: Run): Promise<void> {
    const { signal } = run.stop;
    this.#change(run, {});
    const onFinding = (finding: FindingView, done: number, of: number) => {
      run.findings.push(finding);
      const { counts } = run.progress;
      const counted = { ...counts, [finding.outcome]: (counts[finding.outcome] ?? 0) + 1 };
      this.#change(run, { done, of, counts: counted }, finding);
    };
    try {
      const { grade, report } = await runner.run(request, onFinding, signal);
      run.report = report;
      this.#change(run, {
        state: signal.aborted ? 'stopped' : 'done',
        ...(grade !== undefined && { grade }),
      });
    } catch (error) {
      const state = signal.aborted ? 'stopped' : 'failed';
      this.#change(run, { state, ...(!signal.aborted && { problem: messageOf(error) }) });
    }
  }

  #change(run: Run, change: Partial<CheckProgress>, finding?: FindingView): void {
    run.progress = { ...run.progress, ...change };
    this.changes.tell(finding ? { ...run.progress, finding } : run.progress);
  }

  #find(id: number): Run {
    const run = this.#runs.get(id);
    if (!run) throw notFound(`There is no check ${id}`);
    return run;
  }
}

interface Run {
  progress: CheckProgress;
  readonly findings: FindingView[];
  report: unknown;
  readonly stop: AbortController;
}

const MAX_RUNS = 20;

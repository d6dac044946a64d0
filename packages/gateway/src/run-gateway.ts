import { systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { IsthmusError, messageOf } from '@isthmus/sdk/internal/errors.js';
import type { HostEvent } from '@isthmus/sdk/internal/host/host-event.js';
import type { Logger } from 'pino';
import {
  type Control,
  type Controlled,
  openControl,
  type ReloadReport,
  sweepSockets,
} from './control/index.js';
import { createGateway, type Gateway, type GatewayOptions } from './create-gateway.js';
import type { CloseOptions } from './gateway.js';
import { createLogTail } from './log-tail.js';
import { secretsOfAll } from './secrets.js';
import type { GatewayServerSpec } from './server-definition.js';
import { createCallTracer } from './telemetry/call-tracer.js';
import { logHostEvent } from './telemetry/host-log.js';
import { logCall } from './telemetry/log.js';
import { createMetrics } from './telemetry/metrics.js';
import type { Redactor } from './telemetry/redactor.js';

export interface RunGatewayOptions
  extends Omit<GatewayOptions, 'around' | 'observer' | 'metrics' | 'redactor' | 'onStartFailed'> {
  readonly log: Logger;
  /** Takes secrets out of all that is said. It learns those of the servers. */
  readonly redactor: Redactor;
  /** Reads the configuration. Without it there is nothing to be read again. */
  readonly read?: (() => Promise<ReadServers>) | undefined;
  /** Where the control socket is to be; undefined: there is none. */
  readonly controlPath?: string | undefined;
  onStartFailed?(name: string, error: unknown): void;
}

/** What a configuration says. */
export interface ReadServers {
  readonly units: readonly GatewayServerSpec[];
  /** Why it cannot be used as it is; then nothing changes. */
  readonly problem: string | undefined;
  /** Why single servers go on as they were before. */
  readonly kept?: string | undefined;
  /** What else is wrong with it. */
  readonly warnings: readonly string[];
}

/** A gateway with all that whoever runs it needs: logs, counts, traces, limits, and a socket to ask it. */
export interface RunningGateway {
  readonly gateway: Gateway;
  readonly control: Control | undefined;
  reload(): Promise<ReloadReport>;
  /** Takes over what was read; nothing where that cannot be used. */
  adopt(read: ReadServers): ReloadReport;
  /** As `gateway.close`: a second time hurries. */
  close(options?: CloseOptions): Promise<void>;
  readonly closed: Promise<void>;
}

export async function runGateway(options: RunGatewayOptions): Promise<RunningGateway> {
  const { log, redactor, rate, read, controlPath, clock = systemClock, ...rest } = options;
  const learn = (units: readonly GatewayServerSpec[]) => redactor.add(secretsOfAll(units));
  learn(options.units);
  const metrics = createMetrics();
  const tracer = await createCallTracer({ redactor });
  const tail = createLogTail({ clean: (text) => redactor.text(text) });

  const gateway = await createGateway({
    ...rest,
    clock,
    redactor,
    rate,
    observer: {
      onClientCall(record) {
        metrics.onCall(record);
        logCall(log, record);
      },
      onUpstreamCall: metrics.onCall,
      onBegin: metrics.onBegin,
      onSession: metrics.onSession,
      onRefused: metrics.onRefused,
      tracer,
    },
    metrics: async (collect) => ({ type: metrics.contentType, text: await metrics.render(collect) }),
    onHostEvent(event: HostEvent) {
      metrics.onHostEvent(event);
      tail.onHostEvent(event);
      logHostEvent(log, event);
      options.onHostEvent?.(event);
    },
  });

  const adopt = ({ units, problem, kept, warnings }: ReadServers): ReloadReport => {
    for (const warning of warnings) log.warn({}, warning);
    gateway.configProblem = problem ?? kept;
    if (problem !== undefined) {
      log.error({}, `the configuration was not taken over: ${problem}`);
      return { added: [], changed: [], removed: [], unchanged: gateway.names, problem };
    }
    learn(units);
    const applied = gateway.apply(units);
    for (const name of applied.removed) tail.forget(name);
    const { added, changed, removed } = applied;
    log.info({ added, changed, removed }, 'the configuration was taken over');
    return { ...applied, problem: undefined };
  };
  const reload = async (): Promise<ReloadReport> => {
    if (!read) {
      const problem = 'it was started without a configuration file, so there is nothing to read again';
      return { added: [], changed: [], removed: [], unchanged: gateway.names, problem };
    }
    return adopt(await read());
  };

  /** What goes wrong is read by people, and pasted. */
  const told = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof IsthmusError)) throw error;
      const { code, message, sent, evidence, generation, stderrTail, status } = error;
      throw new IsthmusError(code, redactor.text(message), {
        ...{ sent, generation, status },
        evidence: evidence?.map((line) => redactor.text(line)),
        stderrTail: stderrTail && redactor.text(stderrTail),
      });
    }
  };
  const controlled: Controlled = {
    status: () => gateway.status(),
    restart: (name) => told(() => gateway.unit(name).restart()),
    stop: (name) => told(() => gateway.unit(name).switch(false)),
    start: (name) => told(() => gateway.unit(name).switch(true)),
    reload,
    logs(name, wanted, signal) {
      if (name !== undefined) gateway.unit(name);
      return tail.read(name, wanted, signal);
    },
    shutdown: () => void close(),
  };
  let control: Control | undefined;
  if (controlPath !== undefined) {
    control = await openControl(controlled, { path: controlPath, clock }).catch((error: unknown) => {
      // It serves as well without; only the commands cannot reach it.
      log.warn({}, `there is no control socket: ${messageOf(error)}`);
      return undefined;
    });
  }
  if (control) void sweepSockets(control.path);
  const closed = gateway.closed.then(() => control?.close());
  const close: RunningGateway['close'] = async (how) => {
    await gateway.close(how);
    await closed;
  };
  return { gateway, control, reload, adopt, close, closed };
}

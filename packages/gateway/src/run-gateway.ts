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
  /** Removes secrets from all output. The gateway adds the secrets of the servers to it. */
  readonly redactor: Redactor;
  /** Reads the configuration. Without it, a reload is refused. */
  readonly read?: (() => Promise<ReadServers>) | undefined;
  /** The path of the control socket; undefined: none. */
  readonly controlPath?: string | undefined;
  onStartFailed?(name: string, error: unknown): void;
}

/** The servers of a configuration, as it was read. */
export interface ReadServers {
  readonly units: readonly GatewayServerSpec[];
  /** Why the configuration cannot be used. Then nothing changes. */
  readonly problem: string | undefined;
  /** Why single servers keep their earlier definition. */
  readonly kept?: string | undefined;
  /** Other problems of the configuration. */
  readonly warnings: readonly string[];
}

/** A gateway with what an operator needs: logs, metrics, traces and a control socket. */
export interface RunningGateway {
  readonly gateway: Gateway;
  readonly control: Control | undefined;
  reload(): Promise<ReloadReport>;
  /** Applies a configuration. One with a problem is rejected. */
  adopt(read: ReadServers): ReloadReport;
  /** As `gateway.close`: a second call may shorten the time. */
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
      log.error({}, `configuration rejected, keeping the old one: ${problem}`);
      return { added: [], changed: [], removed: [], unchanged: gateway.names, problem };
    }
    learn(units);
    const applied = gateway.apply(units);
    for (const name of applied.removed) tail.forget(name);
    const { added, changed, removed } = applied;
    log.info({ added, changed, removed }, 'configuration applied');
    return { ...applied, problem: undefined };
  };
  const reload = async (): Promise<ReloadReport> => {
    if (!read) {
      const problem = 'it was started without a configuration file, so there is nothing to read again';
      return { added: [], changed: [], removed: [], unchanged: gateway.names, problem };
    }
    return adopt(await read());
  };

  /** Removes secrets from errors, because people read and copy them. */
  const redacted = async (work: () => Promise<void>): Promise<void> => {
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
    restart: (name) => redacted(() => gateway.unit(name).restart()),
    stop: (name) => redacted(() => gateway.unit(name).switch(false)),
    start: (name) => redacted(() => gateway.unit(name).switch(true)),
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
      // The gateway works without it. Only the commands cannot reach it.
      log.warn({}, `the control socket could not be opened: ${messageOf(error)}`);
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

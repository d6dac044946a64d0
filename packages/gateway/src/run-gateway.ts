import { systemClock } from '@isthmus/sdk/internal/async/clock.js';
import type { AccessSettings } from '@isthmus/sdk/internal/config/gateway/read-access.js';
import { IsthmusError, messageOf } from '@isthmus/sdk/internal/errors.js';
import { events } from '@isthmus/sdk/internal/events.js';
import type { HostEvent } from '@isthmus/sdk/internal/host/host-event.js';
import type { Logger } from 'pino';
import { auditEntry } from './audit/audit-access.js';
import { type AuditOptions, openAudit } from './audit/open-audit.js';
import { ClusterControl, type OperatorRequest } from './cluster/cluster-control.js';
import {
  type ConsoleAccess,
  type ConsoleLink,
  type Control,
  type Controlled,
  openControl,
  type ReloadReport,
  sweepSockets,
} from './control/index.js';
import { createGateway, type Gateway, type GatewayOptions } from './create-gateway.js';
import type { CloseOptions } from './gateway.js';
import { LazyConsole } from './live/lazy-console.js';
import { LiveView } from './live/live-view.js';
import { createLogTail } from './log-tail.js';
import { secretsOfAll } from './secrets.js';
import type { GatewayServerSpec } from './server-definition.js';
import { createCallTracer } from './telemetry/call-tracer.js';
import { createClusterMetrics } from './telemetry/cluster-metrics.js';
import { logHostEvent } from './telemetry/host-log.js';
import { logCall } from './telemetry/log.js';
import { createMetrics } from './telemetry/metrics.js';
import type { Redactor } from './telemetry/redactor.js';

export interface RunGatewayOptions
  extends Omit<
    GatewayOptions,
    'around' | 'observer' | 'metrics' | 'redactor' | 'tap' | 'onStartFailed' | 'audit'
  > {
  readonly log: Logger;
  /** Told what an operator must know, where nothing of the log is shown. Default: the log. */
  readonly warn?: ((message: string) => void) | undefined;
  /** Removes secrets from all output. The gateway adds the secrets of the servers to it. */
  readonly redactor: Redactor;
  /** The audit log. Default: records go to OpenTelemetry, if a logger provider is registered. */
  readonly audit?: AuditOptions | undefined;
  /** Problems of the configuration that it was started with. They were logged, and the console shows them. */
  readonly warnings?: readonly string[] | undefined;
  /** Reads the configuration. Without it, a reload is refused. */
  readonly read?: (() => Promise<ReadServers>) | undefined;
  /** The path of the control socket; undefined: none. */
  readonly controlPath?: string | undefined;
  /** Opens the console, when somebody asks for it first. Undefined: there is none. */
  openConsole?(source: ConsoleSource): Promise<OpenedConsole>;
  onStartFailed?(name: string, error: unknown): void;
}

/** What a console needs of a gateway. */
export interface ConsoleSource {
  readonly gateway: Gateway;
  readonly controlled: Controlled;
  /** A watcher that is put here sees calls, sessions and frames. */
  readonly live: LiveView;
  readonly redactor: Redactor;
  /** Problems of the configuration that is in force. */
  warnings(): readonly string[];
  /** Writes down what a person did in the console. */
  note(line: string): void;
  /** Writes down in the audit log that a person came in, or was refused. */
  entered(who: string | undefined, address: string): void;
}

export interface OpenedConsole {
  link(access: ConsoleAccess): string;
  close(): Promise<void>;
}

/** The servers of a configuration, as it was read. */
export interface ReadServers {
  readonly units: readonly GatewayServerSpec[];
  /** What callers may do. Undefined: as before. */
  readonly access?: AccessSettings | undefined;
  /** Why the configuration cannot be used. Then nothing changes. */
  readonly problem: string | undefined;
  /** Why single servers keep their earlier definition. */
  readonly kept?: string | undefined;
  /** Settings that have changed, and take effect when the gateway is started again. */
  readonly later?: readonly string[] | undefined;
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
  /** A link to the console. */
  console(access: ConsoleAccess): Promise<ConsoleLink>;
  /** As `gateway.close`: a second call may shorten the time. */
  close(options?: CloseOptions): Promise<void>;
  readonly closed: Promise<void>;
}

export async function runGateway(options: RunGatewayOptions): Promise<RunningGateway> {
  const { log, redactor, rate, read, controlPath, openConsole, clock = systemClock, ...others } = options;
  const { audit: auditOptions = {}, warnings: firstWarnings = [], warn: warnOperator, ...rest } = others;
  let inForce = firstWarnings;
  const warn = warnOperator ?? ((message: string) => log.warn({}, message));
  const audit = await openAudit(auditOptions, { redactor, clock, warn });
  const live = new LiveView();
  const learn = (units: readonly GatewayServerSpec[]) => redactor.add(secretsOfAll(units));
  learn(options.units);
  const metrics = createMetrics();
  const { cluster } = options;
  const ofCluster = cluster && createClusterMetrics(cluster, () => gateway.placements());
  const tracer = await createCallTracer({ redactor });
  const tail = createLogTail({ clean: (text) => redactor.text(text) });

  const gateway = await createGateway({
    ...rest,
    clock,
    redactor,
    rate,
    audit,
    tap: (server) => live.tap(server),
    around: (service, { name }) => live.around(service, name),
    observer: {
      onClientCall(record) {
        metrics.onCall(record);
        logCall(log, record);
      },
      onUpstreamCall: metrics.onCall,
      onBegin: metrics.onBegin,
      onSession: metrics.onSession,
      onRefused(refusal) {
        metrics.onRefused(refusal);
        live.watcher?.onRefused(refusal.server);
      },
      tracer,
    },
    metrics: async (collect) => {
      const own = await metrics.render(collect);
      const text = ofCluster ? `${own}\n${await ofCluster.render()}` : own;
      return { type: metrics.contentType, text };
    },
    onHostEvent(event: HostEvent) {
      metrics.onHostEvent(event);
      tail.onHostEvent(event);
      logHostEvent(log, event);
      live.watcher?.onHostEvent(event);
      options.onHostEvent?.(event);
    },
  });

  const countDropped = (message: unknown) => {
    const { connection } = message as { connection: string };
    if (gateway.names.includes(connection)) metrics.onDropped({ server: connection });
  };
  events.dropped.subscribe(countDropped);
  void gateway.closed.then(() => events.dropped.unsubscribe(countDropped));

  const adopt = ({ units, access, problem, kept, later = [], warnings }: ReadServers): ReloadReport => {
    for (const warning of warnings) log.warn({}, warning);
    gateway.configProblem = problem ?? kept;
    if (problem !== undefined) {
      log.error({}, `configuration rejected, keeping the old one: ${problem}`);
      return { added: [], changed: [], removed: [], unchanged: gateway.names, problem };
    }
    learn(units);
    const applied = gateway.apply(units, access);
    for (const name of applied.removed) tail.forget(name);
    const { added, changed, removed } = applied;
    log.info({ added, changed, removed }, 'configuration applied');
    const waiting = `changed in the file, but used only after a restart of the gateway: ${later.join(', ')}`;
    inForce = later.length > 0 ? [...warnings, waiting] : warnings;
    if (later.length > 0) log.warn({}, waiting);
    return { ...applied, later, problem: undefined };
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
      if (wanted.all) return inCluster().logs(name, wanted, signal);
      if (name !== undefined) gateway.unit(name);
      return tail.read(name, wanted, signal);
    },
    async console(access) {
      return { url: (await console.open()).link(access) };
    },
    async members(request) {
      return inCluster().askAll(request);
    },
    shutdown: () => void close(),
  };
  const clusterControl =
    cluster &&
    new ClusterControl({
      cluster,
      perform: (request) => performHere(controlled, request),
      controlled,
      warn,
      clock,
    });
  const inCluster = (): ClusterControl => {
    if (clusterControl) return clusterControl;
    throw new IsthmusError('INVALID_OPTION', 'This gateway is not in a cluster');
  };
  const console = new LazyConsole(
    openConsole &&
      (() =>
        openConsole({
          gateway,
          controlled,
          live,
          redactor,
          warnings: () => inForce,
          note: (line) => log.info({ event: 'console' }, line),
          entered: (who, address) => audit && auditEntry(audit, who, address),
        })),
  );
  let control: Control | undefined;
  if (controlPath !== undefined) {
    control = await openControl(controlled, { path: controlPath, clock }).catch((error: unknown) => {
      // The gateway works without it. Only the commands cannot reach it.
      log.warn({}, `the control socket could not be opened: ${messageOf(error)}`);
      return undefined;
    });
  }
  if (control) void sweepSockets(control.path);
  const closed = gateway.closed.then(async () => {
    clusterControl?.close();
    await Promise.all([control?.close(), console.close(), audit?.close()]);
  });
  const close: RunningGateway['close'] = async (how) => {
    await gateway.close(how);
    await closed;
  };
  return { gateway, control, reload, adopt, console: (access) => controlled.console(access), close, closed };
}

/** Does in this process what an operator asks of all of them. */
async function performHere(
  controlled: Controlled,
  { action, server = '' }: OperatorRequest,
): Promise<unknown> {
  switch (action) {
    case 'status':
      return controlled.status();
    case 'reload':
      return controlled.reload();
    default:
      return controlled[action](server);
  }
}

import type { Clock } from '../../async/clock.js';
import type { EraCache } from '../../client/negotiation/era-cache.js';
import { negotiate } from '../../client/negotiation/negotiate.js';
import type { ConnectSettings } from '../../client/options.js';
import type { Tenant } from '../../era/client-dialect-context.js';
import { IsthmusError } from '../../errors.js';
import type { Change, Era } from '../../exchange/call.js';
import type { Connector } from '../../exchange/connection.js';
import type { Child, ChildWatcher } from '../../process/child.js';
import { openChild } from '../../transport/child-connection.js';
import type { ClientCapabilities, Implementation, LogEntry } from '../../wire/model.js';
import type { HostedServerSettings } from '../definition.js';
import { ProcessInstance, type ProcessInstanceOptions } from './process-instance.js';

export interface OpeningOptions
  extends Omit<ProcessInstanceOptions, 'maxInFlight' | 'maxQueue' | 'maxParked'> {
  readonly settings: HostedServerSettings;
  readonly clock: Clock;
  readonly info: Implementation;
  /** The capabilities that are declared to the server. */
  readonly capabilities: ClientCapabilities;
  /** The era of the previous instance. */
  readonly remembered: Era | undefined;
  readonly cache: EraCache | undefined;
  readonly watchers: readonly ChildWatcher[];
  /** The process exists, and has not answered yet. */
  readonly onStarted: (pid: number | undefined) => void;
  readonly onLog: (entry: LogEntry, pid: number | undefined) => void;
  readonly onStderr: (text: string, pid: number | undefined) => void;
  readonly onChange: (change: Change) => void;
}

/** Starts a process and negotiates with it. When that fails, nothing is left of the process. */
export async function openProcessInstance(
  options: OpeningOptions,
  signal: AbortSignal,
): Promise<ProcessInstance> {
  const { settings, label, clock, info, watchers, remembered } = options;
  let child: Child | undefined;
  const connector: Connector = {
    label,
    identity: identityOf(settings.command),
    connect() {
      const opened = openChild({
        ...settings.command,
        label,
        watchers,
        onStderr: (text) => options.onStderr(text, child?.pid),
      });
      child = opened.child;
      options.onStarted(child.pid);
      return opened.connection;
    },
  };
  try {
    const negotiated = await negotiate(
      connector,
      connectSettings(options, () => child?.pid),
      { remembered, signal },
    );
    const { maxInFlight, maxQueue, maxParked } = settings;
    const host: Tenant = { info, answers: {}, onLog: undefined };
    return new ProcessInstance(
      { ...options, clock, maxInFlight, maxQueue, maxParked },
      negotiated,
      child!,
      host,
    );
  } catch (error) {
    const stderrTail = child?.stderr.tail();
    if (!(error instanceof IsthmusError) || error.stderrTail !== undefined || !stderrTail) throw error;
    throw error.with({ stderrTail });
  }
}

function connectSettings(options: OpeningOptions, pid: () => number | undefined): ConnectSettings {
  const { settings, clock, info, capabilities, cache, onLog, onChange } = options;
  const { mode, maxRounds, connectTimeoutMs, silenceMs, bootMs, timeoutMs, answers, questions } = settings;
  return {
    ...{ mode, maxRounds, connectTimeoutMs, silenceMs, bootMs, timeoutMs, questions },
    ...{ clock, info, capabilities, cache, onChange },
    answers: {},
    fallbackAnswers: answers,
    onLog: (entry) => onLog(entry, pid()),
    reconnect: false,
  };
}

/** The key of this server in the era cache. A client with the same command has the same key. */
function identityOf({
  command,
  args = [],
  cwd = process.cwd(),
  env = {},
}: HostedServerSettings['command']): string {
  return JSON.stringify([command, args, cwd, env]);
}

import type { ServerSettingsView } from '@isthmus/console';
import type {
  ViewedDetail,
  ViewedServer,
  ViewedStatus,
} from '@isthmus/console/internal/gateway/gateway-view.js';
import type { GatewayServerSpec } from '@isthmus/gateway/internal/server-definition.js';
import type { GatewayServerStatus, GatewayStatus } from '@isthmus/gateway/internal/server-state.js';
import { NO_PRINCIPAL } from '@isthmus/sdk/internal/host/host-upstream.js';
import type { ProcessStatus } from '@isthmus/sdk/internal/host/status.js';
import { lookUpCommand } from '../control/doctor/check-command.js';
import { examineServer } from '../control/doctor/examine-server.js';

/** The state of a gateway, as its console shows it. */
export function toStatusFacts(status: GatewayStatus): ViewedStatus {
  const { servers, startedAt, configProblem, ...rest } = status;
  return {
    ...rest,
    startedAt: Date.parse(startedAt),
    servers: Object.values(servers).map(toServerFacts),
    ...(configProblem !== undefined && { configProblem }),
  };
}

function toServerFacts(status: GatewayServerStatus): ViewedServer {
  const { name, kind, state, reason, needed, era, evidence, server, paths, processes } = status;
  const all = processes?.processes ?? [];
  const { lastExit } = processes ?? {};
  const next = all.flatMap(({ nextAttemptAt }) => nextAttemptAt ?? []);
  const facts = all.flatMap((each) => each.facts ?? []);
  const parked = processes?.parked ?? 0;
  return {
    ...{ name, kind, state, needed, paths },
    ...(reason !== undefined && { reason }),
    ...(era && { era }),
    ...(evidence !== undefined && { evidence }),
    ...(server && { server }),
    processes: all.map(toProcessView),
    restarts: processes?.restarts ?? 0,
    ...(next.length > 0 && { nextAttemptAt: Math.min(...next) }),
    ...(lastExit && {
      lastExit: {
        at: lastExit.at,
        reason: lastExit.reason,
        stderr: lastExit.stderrTail.split('\n').filter((line) => line.trim() !== ''),
      },
    }),
    load: {
      running: Math.max(0, (processes?.inFlight ?? 0) - parked),
      waiting: processes?.queued ?? 0,
      asking: parked,
      conversations: processes?.conversations ?? 0,
    },
    ...(facts.length > 0 && {
      rssBytes: facts.reduce((sum, { rssBytes }) => sum + rssBytes, 0),
      cpuMs: facts.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
    }),
  };
}

function toProcessView(status: ProcessStatus): ViewedServer['processes'][number] {
  const { state, generation, pid, owner, era, uptimeMs, inFlight, parked, queued, noise, receipt, facts } =
    status;
  return {
    ...{ state, generation, inFlight, parked, queued, noise },
    ...(pid !== undefined && { pid }),
    ...(owner !== undefined && {
      owner: owner.startsWith(NO_PRINCIPAL) ? 'clients without a principal' : owner,
    }),
    ...(era && { era }),
    ...(uptimeMs !== undefined && { uptimeMs }),
    ...(receipt && {
      receipt: {
        handshake: receipt.handshake,
        handshakeAt: receipt.handshakeAt,
        complete: receipt.complete,
        ...(receipt.list && { list: receipt.list }),
        ...(receipt.listError !== undefined && { listError: receipt.listError }),
      },
    }),
    ...(facts && { rssBytes: facts.rssBytes }),
  };
}

/** What the page about one server shows besides its state. The likely reasons are those of `isthmus doctor`. */
export function toDetail(status: GatewayServerStatus, spec: GatewayServerSpec, now: number): ViewedDetail {
  const { problems } = examineServer(status, {
    ...{ where: 'the gateway', now, entry: undefined },
    lookUp: (command) => lookUpCommand(command, process.env),
  });
  const { limits = {}, tools } = spec;
  return {
    limits: Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined)),
    ...(tools && { tools }),
    likely: problems,
  };
}

/** A definition without any value of a variable or a header. Arguments may be secrets, too: only the program is shown. */
export function toServerSettings(spec: GatewayServerSpec): ServerSettingsView {
  const { name } = spec;
  if (spec.kind === 'broken') return { name, kind: 'command', what: spec.reason, secrets: [], options: {} };
  if (spec.kind === 'command') {
    const { command, args, env, cwd, ...rest } = spec;
    const what =
      args.length === 0 ? command : `${command} … (${args.length} argument${args.length === 1 ? '' : 's'})`;
    return { name, kind: 'command', what, secrets: Object.keys(env), options: optionsIn(rest) };
  }
  if (spec.kind === 'socket') {
    const { address, ...rest } = spec;
    return { name, kind: 'url', what: address, secrets: [], options: optionsIn(rest) };
  }
  const { url, headers, auth, ...rest } = spec;
  const { origin, pathname } = new URL(url);
  const options = { ...optionsIn(rest), ...(auth && { login: auth.mode }) };
  return { name, kind: 'url', what: `${origin}${pathname}`, secrets: Object.keys(headers), options };
}

function optionsIn(spec: object): Record<string, unknown> {
  const others = Object.entries(spec).filter(([name, value]) => !NO_OPTIONS.has(name) && value !== undefined);
  return Object.fromEntries(others);
}

const NO_OPTIONS: ReadonlySet<string> = new Set(['kind', 'name', 'source', 'overrides']);

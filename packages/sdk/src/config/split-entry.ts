import type {
  CommandEntry,
  EntrySettings,
  GatewaySettings,
  LimitSettings,
  ServerEntry,
  ToolLists,
  UrlEntry,
} from './entry.js';
import { MAX_MS } from './setting-kinds.js';
import { isSetting } from './setting-table.js';

/** A server in the parts that different hands take. */
export type ServerParts =
  | {
      readonly kind: 'command';
      readonly name: string;
      /** For a host: it has nothing else in it, so it is deeply equal as long as nothing changed for the process. */
      readonly definition: HostPart;
      readonly bridge: BridgePart;
      readonly unit: GatewayPart;
    }
  | {
      readonly kind: 'url';
      readonly name: string;
      readonly url: string;
      /** For an HTTP connector. */
      readonly connect: ConnectPart;
      /** For an upstream at that connector. */
      readonly upstream: UpstreamPart;
      readonly bridge: BridgePart;
      readonly unit: GatewayPart;
    };

/** What a host takes as the definition of a server. */
export type HostPart = Pick<CommandEntry, 'command' | 'args' | 'env' | 'cwd'> & Omit<EntrySettings, UnitName>;

export interface ConnectPart {
  readonly headers: Readonly<Record<string, string>>;
  readonly sse: 'auto' | 'only';
  readonly maxAnswerBytes?: number;
  readonly maxConcurrent?: number;
}

export type UpstreamPart = Pick<
  EntrySettings,
  'mode' | 'timeoutMs' | 'connectTimeoutMs' | 'silenceMs' | 'bootMs' | 'maxRounds'
>;

export interface BridgePart {
  readonly stateless: boolean;
  readonly timeoutMs?: number;
  /** Of a session with a URL: a process is the host's business. */
  readonly idleMs?: number;
}

/** What the gateway itself does about the server, complete. */
export interface GatewayPart {
  readonly disabled: boolean;
  readonly needed: boolean;
  readonly tools: ToolLists;
  /** Its own, and for what it leaves out those for all servers. */
  readonly limits: LimitSettings;
}

type UnitName = 'tools' | 'needed' | 'limits' | 'stateless';

/** `gateway` is the block for all servers. */
export function splitEntry(entry: ServerEntry, gateway: GatewaySettings = {}): ServerParts {
  const { name, disabled = false, needed = true, stateless = false, tools = {}, timeoutMs, idleMs } = entry;
  const unit = { disabled, needed, tools, limits: { ...gateway.limits, ...entry.limits } };
  const bridge = { stateless, ...given({ timeoutMs }) };
  if (entry.kind === 'command')
    return { kind: 'command', name, definition: toDefinition(entry), bridge, unit };
  return {
    kind: 'url',
    name,
    url: entry.url,
    connect: toConnect(entry),
    upstream: toUpstream(entry),
    bridge: { ...bridge, ...given({ idleMs: idleMs === false ? MAX_MS : idleMs }) },
    unit,
  };
}

const OF_THE_GATEWAY: ReadonlySet<string> = new Set<UnitName>(['tools', 'needed', 'limits', 'stateless']);

function toDefinition(entry: CommandEntry): HostPart {
  const { command, args, env, cwd } = entry;
  const settings = Object.entries(entry).filter(([name]) => isSetting(name) && !OF_THE_GATEWAY.has(name));
  return { command, args, env, cwd, ...Object.fromEntries(settings) };
}

function toConnect({ headers, transport, maxLineBytes, maxInFlight }: UrlEntry): ConnectPart {
  const sse = transport === 'sse' ? 'only' : 'auto';
  return { headers, sse, ...given({ maxAnswerBytes: maxLineBytes, maxConcurrent: maxInFlight }) };
}

function toUpstream(entry: UrlEntry): UpstreamPart {
  const { mode, timeoutMs, connectTimeoutMs, silenceMs, bootMs, maxRounds } = entry;
  return given({ mode, timeoutMs, connectTimeoutMs, silenceMs, bootMs, maxRounds });
}

/** Without what is not set: options that are there and undefined would not be equal to those left out. */
function given<T extends object>(values: T): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T;
}

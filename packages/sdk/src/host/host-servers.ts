import { checkedOptions, invalidArgument, kindOf, type OptionNames } from '../arguments.js';
import { OPTION_NAMES } from '../config/options/option-table.js';
import type { Servers } from '../config/read-servers.js';
import type { ServerSettings, ServerSpec, SocketSpec, UrlSpec } from '../config/server-spec.js';
import { resolveDefinition, type ServerDefinition } from './definition.js';
import { connectorOfSpec } from './spec-connector.js';

/** A server of a host that runs elsewhere, as programs write it: `{ url }` or `{ address }`. */
export type RemoteDefinition = ServerSettings &
  (
    | (Pick<UrlSpec, 'url'> & Partial<Omit<UrlSpec, 'url'>>)
    | (Pick<SocketSpec, 'address'> & Partial<Omit<SocketSpec, 'address'>>)
  );

/** The servers of a host, by name: commands, URLs and sockets. */
export type HostServers = Readonly<Record<string, ServerDefinition | RemoteDefinition | ServerSpec>>;

/** A server of a host after its definition was checked. */
export type HostedDefinition =
  | { readonly kind: 'command'; readonly name: string; readonly definition: ServerDefinition }
  | { readonly kind: 'remote'; readonly name: string; readonly spec: UrlSpec | SocketSpec };

/** Checks all definitions. Also takes the whole result of `readServers`. */
export function checkServers(given: HostServers | Servers): HostedDefinition[] {
  if (typeof given !== 'object' || given === null || Array.isArray(given) || given instanceof Promise) {
    throw invalidArgument(`servers must be an object with the servers by name, got ${kindOf(given)}`);
  }
  const servers = isReadResult(given) ? given.servers : given;
  return Object.entries(servers).map(([name, definition]): HostedDefinition => {
    if (typeof definition !== 'object' || definition === null) {
      throw invalidArgument(`Server ${name}: write { command, args } or { url }, got ${kindOf(definition)}`);
    }
    if (isRemote(definition)) return { kind: 'remote', name, spec: checkedRemote(name, definition) };
    const command = definition as ServerDefinition;
    resolveDefinition(name, command);
    return { kind: 'command', name, definition: command };
  });
}

function isReadResult(given: HostServers | Servers): given is Servers {
  return Array.isArray(given['problems']) && typeof given['servers'] === 'object';
}

function isRemote(definition: object): definition is RemoteDefinition {
  return 'url' in definition || 'address' in definition;
}

function checkedRemote(name: string, definition: RemoteDefinition): UrlSpec | SocketSpec {
  const names = 'url' in definition ? URL_OPTIONS : SOCKET_OPTIONS;
  checkedOptions(`Server ${name}`, definition, names as OptionNames<RemoteDefinition>);
  const spec: UrlSpec | SocketSpec =
    'url' in definition
      ? { transport: 'auto', headers: {}, ...definition, kind: 'url', name }
      : { ...definition, kind: 'socket', name };
  // Throws for an address that cannot be used.
  connectorOfSpec(spec);
  return spec;
}

const SETTINGS = Object.fromEntries(OPTION_NAMES.map((name) => [name, true])) as OptionNames<ServerSettings>;
const DEFINED = { ...SETTINGS, kind: true, name: true, source: true, overrides: true } as const;
const URL_OPTIONS: OptionNames<UrlSpec> = {
  ...DEFINED,
  url: true,
  transport: true,
  headers: true,
  auth: true,
};
const SOCKET_OPTIONS: OptionNames<SocketSpec> = { ...DEFINED, address: true };

import type {
  BridgePart,
  ConnectPart,
  GatewayPart,
  HostPart,
  ServerParts,
  UpstreamPart,
} from '@isthmus/sdk/internal/config/index.js';

/** A server behind the gateway: what it is, and how it is offered. Plain data, so that two can be compared. */
export interface GatewayServerDefinition {
  readonly name: string;
  readonly source: GatewayServerSource;
  readonly bridge: BridgePart;
  readonly unit: GatewayPart;
}

export type GatewayServerSource =
  /** A process that a host keeps. */
  | { readonly kind: 'command'; readonly definition: HostPart }
  | {
      readonly kind: 'url';
      readonly url: string;
      readonly connect: ConnectPart;
      readonly upstream: UpstreamPart;
    }
  /** `unix:PATH` or `tcp://HOST:PORT`. */
  | { readonly kind: 'socket'; readonly address: string; readonly upstream: UpstreamPart }
  /** It is configured, and cannot be used as it is. Nobody should have to wonder where it is. */
  | { readonly kind: 'broken'; readonly reason: string };

export interface GatewayDefaults {
  /** Callers are told apart, so that each has a process of its own where a server may remember something. */
  readonly hasPrincipals: boolean;
}

/** A server whose configuration is wrong. */
export function brokenServer(name: string, reason: string): GatewayServerDefinition {
  const unit = { disabled: false, needed: true, tools: {}, limits: {} };
  return { name, source: { kind: 'broken', reason }, bridge: { stateless: false }, unit };
}

/** A server of a configuration file, as this gateway keeps it. */
export function gatewayServerOf(
  parts: ServerParts,
  { hasPrincipals }: GatewayDefaults,
): GatewayServerDefinition {
  const { name, bridge, unit } = parts;
  if (parts.kind === 'url') {
    const { url, connect, upstream } = parts;
    return { name, source: { kind: 'url', url, connect, upstream }, bridge, unit };
  }
  const { definition } = parts;
  const processes = definition.processes ?? (hasPrincipals && !bridge.stateless ? 'per-principal' : 'shared');
  // Nobody should have to wait for it, and whoever runs it should hear at once that it does not start.
  const start = definition.start ?? 'eager';
  return { name, source: { kind: 'command', definition: { ...definition, processes, start } }, bridge, unit };
}

import { ProtocolError } from '@isthmus/sdk/internal/errors.js';
import type { Call, EarlyMessage } from '@isthmus/sdk/internal/exchange/call.js';
import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { BareNames, ListViewer } from './bare-names.js';
import { viewerOf } from './lists.js';
import type { AggregateMember } from './members.js';
import type { ResourceOwners } from './resource-owners.js';
import type { Roster } from './roster.js';
import type { Found, SharedNames } from './shared-names.js';
import type { SharedUris } from './shared-uris.js';

/** What an aggregate knows of its servers and of what they have. */
export interface KnownOfServers {
  readonly roster: Roster;
  readonly names: SharedNames;
  readonly owners: ResourceOwners;
  readonly uris: SharedUris;
  readonly bare: BareNames;
}

/** Finds the server that a request to the aggregate is for. */
export class Targets {
  readonly #known: KnownOfServers;
  readonly #list: (listing: Call) => Promise<JsonObject>;

  /** `list`: reads a page of a list of the aggregate. */
  constructor(known: KnownOfServers, list: (listing: Call) => Promise<JsonObject>) {
    this.#known = known;
    this.#list = list;
  }

  /** The server that a request is for, and the tool there, as far as that is known without asking. */
  of({ method, params = {} }: EarlyMessage, viewer: ListViewer): Target | undefined {
    const { principal } = viewer;
    const { name, uri, ref } = params;
    if (method === 'tools/call') {
      const found = typeof name === 'string' ? this.toolOf(name, viewer) : undefined;
      return found && { member: found.member, tool: found.name };
    }
    const about = isJsonObject(ref) ? ref : { name, uri };
    const member =
      method === 'prompts/get' || about['type'] === 'ref/prompt'
        ? this.#known.names.read(about['name'], principal)?.member
        : this.#keeperOf(about['uri'], principal);
    return member && { member, tool: undefined };
  }

  /** Whether lists would show which servers have these tools: a name may not tell it by itself. */
  needsToolLists(names: readonly string[], viewer: ListViewer): boolean {
    return this.#hasUnknownBare(names, viewer) || !this.#areMarksKnown(names, viewer);
  }

  /** Reads these lists. Undefined: they would show nothing more than is known. */
  learnTools(names: readonly string[], call: Call): Promise<void> | undefined {
    const viewer = viewerOf(call);
    if (!this.needsToolLists(names, viewer)) return undefined;
    const readsAll = this.#hasUnknownBare(names, viewer);
    const isEnough = () => !readsAll && this.#areMarksKnown(names, viewer);
    return this.#known.names.readLists(call, 'tools/list', this.#list, isEnough);
  }

  /** The server that a tool belongs to, and its name there, as far as that is known without asking. */
  toolOf(tool: string, viewer: ListViewer): Found | undefined {
    return (
      this.#known.names.read(tool, viewer.principal) ??
      this.#bareTool(tool, this.#known.bare.of(viewer, tool))
    );
  }

  /** The same for all tokens of a principal together. */
  toolOfAny(tool: string, principal: string | undefined): Found | undefined {
    const { names, bare } = this.#known;
    return names.read(tool, principal) ?? this.#bareTool(tool, bare.ofAny(principal, tool));
  }

  unknownTool(name: string, viewer: ListViewer): ProtocolError {
    const servers = this.#known.bare.of(viewer, name);
    const names = servers.map((server) => this.#known.names.to({ server, name }));
    const several = names.length > 1 ? `. Several servers have it: call ${names.join(' or ')}` : '';
    return new ProtocolError(ErrorCode.InvalidParams, `Unknown tool: ${name}${several}`);
  }

  /** The tool that only one server has under this name. */
  #bareTool(name: string, [only, another]: readonly string[]): Found | undefined {
    const member = another ? undefined : this.#known.roster.members.find((each) => each.name === only);
    return member && { member, name };
  }

  #hasUnknownBare(names: readonly string[], viewer: ListViewer): boolean {
    return (
      this.#known.bare.isEmpty(viewer) &&
      names.some((name) => !this.#known.names.read(name, viewer.principal))
    );
  }

  #areMarksKnown(names: readonly string[], { principal }: ListViewer): boolean {
    return !names.some((name) => this.#known.names.isUnknown(name, principal));
  }

  #keeperOf(uri: unknown, principal: string | undefined): AggregateMember | undefined {
    if (typeof uri !== 'string') return undefined;
    const named = this.#known.uris.read(uri)?.member ?? this.#known.uris.keeperOf(principal, uri);
    if (named) return named;
    const [only, ...others] = this.#known.owners.among(principal, uri, this.#known.roster.members);
    return others.length === 0 ? only : undefined;
  }
}

/** What a request is for. */
export interface Target {
  readonly member: AggregateMember;
  /** Undefined: it is not a tool call. */
  readonly tool: string | undefined;
}

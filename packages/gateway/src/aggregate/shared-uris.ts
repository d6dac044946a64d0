import { ByPrincipal } from '@isthmus/sdk/internal/exchange/by-principal.js';
import type { Change } from '@isthmus/sdk/internal/exchange/call.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { AggregateMember } from './members.js';

/** What subscriptions need of the addresses. */
export type SubscribedAddresses = Pick<SharedUris, 'at' | 'heardAs'>;

/** A resource at one of the servers. */
export interface ResourceAt {
  readonly member: AggregateMember;
  /** Its URI at that server. */
  readonly uri: string;
}

/**
 * The addresses of user interfaces (`ui:`) and skills (`skill:`), which servers choose without knowing of each other. They
 * are shown with the name of their server: `ui://view` of the server `maps` is shown as `ui://maps~/view`. Such an address
 * can be used at any time. All other URIs stay as they are.
 *
 * A skill always has the name of its server, as tools have: its files and folders stay together, also if another server has
 * a part of them. A user interface has it only if an earlier server of the configuration uses the same address, as far as
 * the lists of each principal show.
 */
export class SharedUris {
  readonly #users = new ByPrincipal(() => new Map<string, Set<string>>());
  #members: readonly AggregateMember[] = [];
  /** Whether a URI was ever shown with the name of its server. */
  hasAliases = false;

  setMembers(members: readonly AggregateMember[]): void {
    this.#members = members;
  }

  /** The URI as clients see it. Records that this server uses it. */
  show(principal: string | undefined, member: AggregateMember, uri: string): string {
    const named = this.nameOf(member, uri);
    if (named === uri) return uri;
    if (uri.startsWith('skill:')) return this.#alias(named);
    const known = this.#users.of(principal);
    const users = known.get(uri) ?? new Set();
    known.delete(uri);
    known.set(uri, users.add(member.name));
    if (known.size > MAX_KNOWN) known.delete(known.keys().next().value!);
    const first = this.#members.find(({ name }) => users.has(name));
    return first === member ? uri : this.#alias(named);
  }

  #alias(named: string): string {
    this.hasAliases = true;
    return named;
  }

  /** The address of a URI of this server that has the name of the server. */
  nameOf({ name }: AggregateMember, uri: string): string {
    if (!SHARED.test(uri) || this.#members.length < 2) return uri;
    const [scheme = '', rest = ''] = uri.split(/:\/\/(.*)/s);
    return `${scheme}://${encodeURIComponent(name)}~/${rest}`;
  }

  /** The server that an address names, and the URI there. Undefined: it names none. */
  read(shown: unknown): ResourceAt | undefined {
    const [, scheme, name, rest] = (typeof shown === 'string' && ALIAS.exec(shown)) || [];
    if (name === undefined) return undefined;
    const member = this.#members.find((each) => encodeURIComponent(each.name) === name);
    return member && { member, uri: `${scheme}://${rest}` };
  }

  /** The URI at this server of what clients call `shown`. Undefined: the address names another server. */
  at(member: AggregateMember, shown: string): string | undefined {
    const named = this.read(shown);
    if (!named) return shown;
    return named.member === member ? named.uri : undefined;
  }

  /** How a client that is subscribed to these addresses knows a resource of this server, or a part of it (SUB-016). */
  heardAs(member: AggregateMember, uri: string, subscribed: Iterable<string>): readonly string[] {
    let isNamed = false;
    let isBare = false;
    for (const shown of subscribed) {
      const own = this.at(member, shown);
      if (own === undefined || !uri.startsWith(own)) continue;
      if (own === shown) isBare = true;
      else isNamed = true;
    }
    if (!isNamed) return [uri];
    const named = this.nameOf(member, uri);
    return isBare ? [uri, named] : [named];
  }

  /** The server that keeps this URI. Undefined if no list has shown it. */
  keeperOf(principal: string | undefined, uri: unknown): AggregateMember | undefined {
    const users = typeof uri === 'string' ? this.#users.get(principal)?.get(uri) : undefined;
    return users && this.#members.find(({ name }) => users.has(name));
  }

  /** A tool whose `_meta` names the user interface that shows its results. */
  showTool(principal: string | undefined, member: AggregateMember, tool: JsonObject): JsonObject {
    const { _meta } = tool;
    if (!isJsonObject(_meta)) return tool;
    const { ui, [FLAT]: flat } = _meta;
    const nested = isJsonObject(ui) ? ui['resourceUri'] : undefined;
    const shown: JsonObject = {};
    if (typeof nested === 'string') {
      const resourceUri = this.show(principal, member, nested);
      if (resourceUri !== nested) shown['ui'] = { ...(ui as JsonObject), resourceUri };
    }
    if (typeof flat === 'string') {
      const resourceUri = this.show(principal, member, flat);
      if (resourceUri !== flat) shown[FLAT] = resourceUri;
    }
    return Object.keys(shown).length > 0 ? { ...tool, _meta: { ..._meta, ...shown } } : tool;
  }

  /** The result of a tool, with links to resources. */
  showResult(principal: string | undefined, member: AggregateMember, result: JsonObject): JsonObject {
    const { content } = result;
    if (!Array.isArray(content)) return result;
    const isLink = (block: unknown) => isJsonObject(block) && block['type'] === 'resource_link';
    const shown = content.map((block) => (isLink(block) ? this.showItem(principal, member, block) : block));
    return shown.some((block, at) => block !== content[at]) ? { ...result, content: shown } : result;
  }

  /** The state of a task, which may contain the result of its tool, or such a result. */
  showTask(principal: string | undefined, member: AggregateMember, task: JsonObject): JsonObject {
    const { result } = task;
    if (!isJsonObject(result)) return this.showResult(principal, member, task);
    const shown = this.showResult(principal, member, result);
    return shown === result ? task : { ...task, result: shown };
  }

  /** What a server tells on a subscription. */
  showChange(principal: string | undefined, member: AggregateMember, change: Change): Change {
    if (!this.hasAliases || change.kind !== 'foreign') return change;
    return { ...change, params: this.showTask(principal, member, change.params) };
  }

  /** A resource, a skill or a link, with the files of a skill. */
  showItem(principal: string | undefined, member: AggregateMember, item: JsonObject): JsonObject {
    const { uri, resources } = item;
    const files = Array.isArray(resources)
      ? resources.map((file: unknown) => (isJsonObject(file) ? this.showItem(principal, member, file) : file))
      : undefined;
    const shown = typeof uri === 'string' ? this.show(principal, member, uri) : uri;
    const isSame = shown === uri && !files?.some((file, at) => file !== (resources as unknown[])[at]);
    return isSame ? item : { ...item, uri: shown, ...(files && { resources: files }) };
  }
}

/** The deprecated place of the address. */
const FLAT = 'ui/resourceUri';
const SHARED = /^(ui|skill):\/\//;
const ALIAS = /^(ui|skill):\/\/([^/~]+)~\/(.*)$/s;
/** For each principal. A URI beyond this is shown as it is. */
const MAX_KNOWN = 2000;

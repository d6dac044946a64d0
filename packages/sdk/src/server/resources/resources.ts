import { checkedOptions, invalidArgument, type OptionNames } from '../../arguments.js';
import { type InputRequired, isInputRequired } from '../../era/input-rounds.js';
import { ProtocolError } from '../../errors.js';
import type { Call } from '../../exchange/call.js';
import { ErrorCode } from '../../wire/error-codes.js';
import { isJsonObject, type JsonObject } from '../../wire/json-rpc.js';
import type { Annotations, CacheHints, Icon, Resource, ResourceTemplate } from '../../wire/model.js';
import { checkHandler } from '../check-registration.js';
import type { Completer } from '../completions.js';
import { type ResourceReturn, toReadResult } from '../content.js';
import { Context } from '../context.js';
import { checkCacheHints, defined, type Registration, type Registry } from '../registry.js';
import type { VariablesOf } from './template-variables.js';
import { parseUriTemplate, type UriTemplate } from './uri-template.js';

interface ResourceFacts {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly annotations?: Annotations;
  readonly icons?: Icon[];
  readonly _meta?: JsonObject;
  /** How long a modern client may cache the content. Default: not at all. */
  readonly cache?: CacheHints;
}

/** What clients see of a resource. */
export interface ResourceDefinition extends ResourceFacts {
  /** In bytes, if known. */
  readonly size?: number;
}

/** What clients see of a resource template. */
export interface TemplateDefinition<T extends string = string> extends ResourceFacts {
  /** Suggests values for the template's variables. */
  readonly complete?: { readonly [K in keyof VariablesOf<T>]?: Completer };
  /**
   * The resources of this template that `resources/list` shows. With `nextCursor` the list goes on: the next call gets
   * it as `cursor`.
   */
  readonly list?: (ctx: Context, cursor?: string) => TemplateListing | Promise<TemplateListing>;
}

/** A resource in the list of a template. Without `name` and `mimeType` it has those of the template. */
export type ListedResource = Omit<Resource, 'name'> & { readonly name?: string };

/** What the `list` of a resource template returns. */
export type TemplateListing =
  | readonly ListedResource[]
  | { readonly resources: readonly ListedResource[]; readonly nextCursor?: string };

type Returned = ResourceReturn | InputRequired;

export type ResourceHandler = (uri: string, ctx: Context) => Returned | Promise<Returned>;
export type TemplateHandler<T extends string = string> = (
  variables: VariablesOf<T>,
  ctx: Context,
  uri: string,
) => Returned | Promise<Returned>;

/** Controls a registered resource. */
export interface ResourceRegistration extends Registration {
  /** Changes members of the definition, and the handler if one is given. The rest stays. Clients are notified. */
  update(changes: Partial<ResourceDefinition>, handler?: ResourceHandler): void;
}

/** Controls a registered resource template. */
export interface TemplateRegistration<T extends string> extends Registration {
  /** Changes members of the definition, and the handler if one is given. The rest stays. Clients are notified. */
  update(changes: Partial<TemplateDefinition<T>>, handler?: TemplateHandler<T>): void;
}

export interface RegisteredResource {
  readonly listed: Resource;
  readonly cache: CacheHints | undefined;
  readonly read: ResourceHandler;
}

export interface RegisteredTemplate {
  readonly listed: ResourceTemplate;
  readonly cache: CacheHints | undefined;
  readonly template: UriTemplate;
  readonly complete: ReadonlyMap<string, Completer>;
  readonly list: TemplateDefinition['list'];
  readonly read: TemplateHandler;
}

export function addResource(
  registry: Registry<RegisteredResource>,
  uri: string,
  given: ResourceDefinition,
  handler: ResourceHandler,
): ResourceRegistration {
  const checked = (definition: ResourceDefinition) =>
    checkedOptions(`server.resource(${JSON.stringify(uri)})`, definition, RESOURCE_OPTIONS);
  let definition = checked(given);
  let read = handler;
  return registry.add(uri, buildResource(uri, definition, read), (changes, next) => {
    const changed = { ...definition, ...checked(changes as ResourceDefinition) };
    const changedRead = (next ?? read) as ResourceHandler;
    checkHandler(`resource ${uri}`, changedRead);
    const resource = buildResource(uri, changed, changedRead);
    definition = changed;
    read = changedRead;
    return resource;
  });
}

const FACTS: OptionNames<ResourceFacts> = {
  name: true,
  title: true,
  description: true,
  mimeType: true,
  annotations: true,
  icons: true,
  _meta: true,
  cache: true,
};
const RESOURCE_OPTIONS: OptionNames<ResourceDefinition> = { ...FACTS, size: true };
const TEMPLATE_OPTIONS: OptionNames<TemplateDefinition> = { ...FACTS, complete: true, list: true };

function buildResource(
  uri: string,
  definition: ResourceDefinition,
  read: ResourceHandler,
): RegisteredResource {
  const { cache, ...facts } = definition;
  checkFacts(`resource ${uri}`, definition);
  return { listed: defined({ uri, ...facts }) as unknown as Resource, cache, read };
}

function checkFacts(owner: string, { name, cache }: ResourceFacts): void {
  if (typeof name !== 'string' || name === '') throw invalidArgument(`${owner} needs a name`);
  checkCacheHints(owner, cache);
}

export function addTemplate<T extends string>(
  registry: Registry<RegisteredTemplate>,
  uriTemplate: T,
  given: TemplateDefinition<T>,
  handler: TemplateHandler<T>,
): TemplateRegistration<T> {
  const checked = (definition: object) =>
    checkedOptions(
      `server.resourceTemplate(${JSON.stringify(uriTemplate)})`,
      definition as TemplateDefinition,
      TEMPLATE_OPTIONS,
    );
  let definition = checked(given);
  let read = handler as unknown as TemplateHandler;
  return registry.add(uriTemplate, buildTemplate(uriTemplate, definition, read), (changes, next) => {
    const changed = { ...definition, ...checked(changes) };
    const changedRead = (next ?? read) as TemplateHandler;
    checkHandler(`resource template ${uriTemplate}`, changedRead);
    const template = buildTemplate(uriTemplate, changed, changedRead);
    definition = changed;
    read = changedRead;
    return template;
  });
}

function buildTemplate(
  uriTemplate: string,
  definition: TemplateDefinition,
  read: TemplateHandler,
): RegisteredTemplate {
  const owner = `resource template ${uriTemplate}`;
  const { cache, complete = {}, list, ...facts } = definition;
  checkFacts(owner, definition);
  const template = parseUriTemplate(uriTemplate);
  const stranger = Object.keys(complete).find((name) => !template.variables.includes(name));
  if (stranger !== undefined) throw invalidArgument(`${owner} has no variable "${stranger}" to complete`);
  return {
    listed: defined({ uriTemplate, ...facts }) as unknown as ResourceTemplate,
    cache,
    template,
    complete: new Map(Object.entries(complete as Readonly<Record<string, Completer>>)),
    list,
    read,
  };
}

/** Reads the resource with exactly this URI, otherwise the first template that matches. */
export async function readResource(
  resources: Registry<RegisteredResource>,
  templates: Registry<RegisteredTemplate>,
  call: Call,
): Promise<JsonObject> {
  const { uri } = call.params;
  if (typeof uri !== 'string')
    throw new ProtocolError(ErrorCode.InvalidParams, 'params.uri must be a string');
  const resource = resources.get(uri);
  if (resource) {
    const value = await resource.read(uri, new Context(call));
    return finish(value, uri, resource.listed.mimeType, resource.cache);
  }
  for (const template of templates.all()) {
    const variables = template.template.match(uri);
    if (!variables) continue;
    const value = await template.read(variables, new Context(call), uri);
    return finish(value, uri, template.listed.mimeType, template.cache);
  }
  throw resourceNotFound(uri);
}

// RES-004, ERR-022
/** The error to throw from a handler when the URI matches its template but the resource does not exist. */
export function resourceNotFound(uri: string): ProtocolError {
  return new ProtocolError(ErrorCode.InvalidParams, `Resource not found: ${uri}`, { uri });
}

function finish(
  value: unknown,
  uri: string,
  mimeType: string | undefined,
  cache: CacheHints | undefined,
): JsonObject {
  if (isJsonObject(value) && isInputRequired(value)) return value;
  const result = toReadResult(value, uri, mimeType);
  return cache ? { ...cache, ...result } : result;
}

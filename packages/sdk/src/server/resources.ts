import { type InputRequired, isInputRequired } from '../era/input-rounds.js';
import { ProtocolError } from '../errors.js';
import type { Call } from '../exchange/call.js';
import { ErrorCode } from '../wire/error-codes.js';
import { isJsonObject, type JsonObject } from '../wire/json-rpc.js';
import type { Annotations, CacheHints, Icon, Resource, ResourceTemplate } from '../wire/model.js';
import type { Completer } from './completions.js';
import { type ResourceReturn, toReadResult } from './content.js';
import { Context } from './context.js';
import { checkCacheHints, defined, type Registration, type Registry } from './registry.js';
import { parseUriTemplate, type TemplateVariables, type UriTemplate } from './uri-template.js';

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

export interface ResourceDefinition extends ResourceFacts {
  /** In bytes, if known. */
  readonly size?: number;
}

export interface TemplateDefinition extends ResourceFacts {
  /** Suggests values for the template's variables. */
  readonly complete?: Record<string, Completer>;
}

type Returned = ResourceReturn | InputRequired;

export type ResourceHandler = (uri: string, ctx: Context) => Returned | Promise<Returned>;
export type TemplateHandler = (
  variables: TemplateVariables,
  ctx: Context,
  uri: string,
) => Returned | Promise<Returned>;

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
  readonly read: TemplateHandler;
}

export function addResource(
  registry: Registry<RegisteredResource>,
  uri: string,
  definition: ResourceDefinition,
  read: ResourceHandler,
): Registration {
  const { cache, ...facts } = definition;
  checkCacheHints(`resource ${uri}`, cache);
  const listed = defined({ uri, ...facts }) as unknown as Resource;
  return registry.add(uri, { listed, cache, read });
}

export function addTemplate(
  registry: Registry<RegisteredTemplate>,
  uriTemplate: string,
  definition: TemplateDefinition,
  read: TemplateHandler,
): Registration {
  const { cache, complete = {}, ...facts } = definition;
  checkCacheHints(`resource template ${uriTemplate}`, cache);
  return registry.add(uriTemplate, {
    listed: defined({ uriTemplate, ...facts }) as unknown as ResourceTemplate,
    cache,
    template: parseUriTemplate(uriTemplate),
    complete: new Map(Object.entries(complete)),
    read,
  });
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

/** RES-004, ERR-022: throw it from a template's handler if the URI matches but does not exist. */
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

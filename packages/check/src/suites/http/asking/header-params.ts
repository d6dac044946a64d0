import { type HeaderParam, readHeaderParams } from '@isthmus/sdk/internal/era/modern/headers.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { CheckContext } from '../../../run/check-context.js';
import type { CallableTool } from '../../../survey/facts.js';
import { type Answer, ask } from './answer.js';
import { modernRequest } from './requests.js';

/** A tool with an argument that is a header, too, and a call of it that should be served. */
export interface MirroredCall {
  readonly tool: CallableTool;
  readonly param: HeaderParam;
  /** Of the header, in lower case. */
  readonly header: string;
  readonly value: string | number | boolean;
  readonly args: JsonObject;
}

/** Skips where no tool that may be called has such an argument. */
export function mirroredCall(table: CheckContext, type?: HeaderParam['type']): MirroredCall {
  const what = `with ${type ? `an argument of type ${type}` : 'an argument'} that is mirrored in a header`;
  const tool = table.needTool((each) => paramOf(each, type) !== undefined, what);
  const param = paramOf(tool, type)!;
  const value = valueFor(tool, param);
  return {
    tool,
    param,
    header: `mcp-param-${param.header.toLowerCase()}`,
    value,
    args: withValue(tool.args, param.path, value),
  };
}

/** Calls the tool with these arguments; headers in `change` replace those that belong to them. */
export function callMirrored(
  table: CheckContext,
  { tool }: MirroredCall,
  args: JsonObject,
  change: Readonly<Record<string, string | undefined>>,
): Promise<Answer> {
  const { body, headers } = modernRequest(table, 'tools/call', { name: tool.name, arguments: args });
  return ask(table, table.openHttp(), { body, headers: { ...headers, ...change } });
}

export function withValue(args: JsonObject, path: readonly string[], value: unknown): JsonObject {
  const [first, ...rest] = path;
  if (first === undefined) return args;
  const inner = args[first];
  return {
    ...args,
    [first]: rest.length === 0 ? value : withValue(isJsonObject(inner) ? inner : {}, rest, value),
  };
}

function paramOf(tool: CallableTool, type?: HeaderParam['type']): HeaderParam | undefined {
  const read = readHeaderParams(tool.tool['inputSchema']);
  return read.kind === 'valid'
    ? read.params.find((param) => type === undefined || param.type === type)
    : undefined;
}

/** The value that the call has already, or one that the schema allows. */
function valueFor({ tool, args }: CallableTool, { path, type }: HeaderParam): string | number | boolean {
  const given = path.reduce<unknown>((place, step) => (isJsonObject(place) ? place[step] : undefined), args);
  if (isPlain(given)) return given;
  const schema = path.reduce<unknown>(
    (place, step) =>
      isJsonObject(place) && isJsonObject(place['properties']) ? place['properties'][step] : undefined,
    tool['inputSchema'],
  );
  const { enum: choices, default: usual, minimum } = isJsonObject(schema) ? schema : {};
  const first: unknown = Array.isArray(choices) ? choices[0] : usual;
  if (isPlain(first)) return first;
  if (type === 'boolean') return true;
  if (type === 'integer') return typeof minimum === 'number' ? Math.max(7, minimum) : 7;
  return 'isthmus';
}

function isPlain(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

import { type HeaderParam, readHeaderParams } from '@isthmus/sdk/internal/era/modern/headers.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Check } from '../../../model.js';
import type { CheckContext } from '../../../run/check-context.js';
import type { CallableTool } from '../../../survey/facts.js';
import { type Answer, ask, needRefusal, needServed } from '../client/answer.js';
import { modernRequest, namedRequests } from '../client/requests.js';

const HEADER_MISMATCH = -32020;

const about = { suite: 'http', era: 'modern', over: ['http'], lane: 'own', level: 'MUST' } as const;

/** Arguments of tools that are also headers (`x-mcp-header`). */
export const paramHeaderChecks: readonly Check[] = [
  {
    ...about,
    id: 'http-params/served',
    title: 'Serves a call whose Mcp-Param header matches the argument, plain and in Base64',
    rules: ['HTTP-034'],
    hint: 'Decode Mcp-Param values of the form =?base64?…?= before you compare them with the arguments.',
    async run(context) {
      const call = mirroredCall(context);
      const encoded = `=?base64?${Buffer.from(String(call.value)).toString('base64')}?=`;
      for (const value of [String(call.value), encoded]) {
        const answer = await callMirrored(context, call, call.args, { [call.header]: value });
        needNoMismatch(context, answer, `${call.tool.name} with ${call.header}: ${value}`);
      }
      return `${call.tool.name} was served with ${call.header}, plain and in Base64`;
    },
  },
  {
    ...about,
    id: 'http-params/required',
    title: 'Refuses a call without the Mcp-Param header of an argument: 400 and -32020',
    rules: ['HTTP-052'],
    hint: 'If an argument with x-mcp-header has a value and its header is missing, answer with HTTP 400 and error -32020.',
    async run(context) {
      const call = mirroredCall(context);
      const answer = await callMirrored(context, call, call.args, { [call.header]: undefined });
      needRefusal(context, answer, `${call.tool.name} without ${call.header}`, { codes: [HEADER_MISMATCH] });
      return `was answered with ${answer.said}`;
    },
  },
  {
    ...about,
    id: 'http-params/match-body',
    title: 'Refuses an Mcp-Param header that differs from the argument: 400 and -32020',
    rules: ['HTTP-058', 'HTTP-033'],
    hint: 'Compare every Mcp-Param header of the tool with its argument. If they differ, answer with HTTP 400 and error -32020.',
    async run(context) {
      const call = mirroredCall(context);
      const other = typeof call.value === 'boolean' ? String(!call.value) : `${call.value}1`;
      const answer = await callMirrored(context, call, call.args, { [call.header]: other });
      const what = `${call.tool.name} with ${call.header}: ${other} and ${JSON.stringify(call.value)} in the body`;
      needRefusal(context, answer, what, { codes: [HEADER_MISMATCH] });
      return `was answered with ${answer.said}`;
    },
  },
  {
    ...about,
    id: 'http-params/none-for-null',
    title: 'Requires no Mcp-Param header if the argument is null or absent',
    rules: ['HTTP-051'],
    hint: 'Require an Mcp-Param header only if the argument has a value. Null and absent arguments have none.',
    async run(context) {
      const call = mirroredCall(context);
      const { path } = call.param;
      for (const [value, word] of [
        [undefined, 'absent'],
        [null, 'null'],
      ] as const) {
        const answer = await callMirrored(context, call, withValue(call.args, path, value), {
          [call.header]: undefined,
        });
        needNoMismatch(
          context,
          answer,
          `${call.tool.name} without ${call.header}, ${path.join('.')} ${word}`,
        );
      }
      return `${call.tool.name} needs no ${call.header} if the argument is null or absent`;
    },
  },
  {
    ...about,
    id: 'http-params/integers-as-numbers',
    title: 'Compares Mcp-Param headers of integers as numbers: 7.0 is 7',
    level: 'SHOULD',
    rules: ['HTTP-037'],
    hint: 'Parse the header of an integer argument and compare numbers, not strings.',
    async run(context) {
      const call = mirroredCall(context, 'integer');
      const header = `${call.value}.0`;
      const answer = await callMirrored(context, call, call.args, { [call.header]: header });
      needNoMismatch(context, answer, `${call.tool.name} with ${call.header}: ${header} for ${call.value}`);
      return `${call.header}: ${header} was accepted for ${call.value}`;
    },
  },
  {
    ...about,
    id: 'http-params/illegal-characters',
    title: 'Refuses an Mcp-Param header with invalid characters',
    rules: ['HTTP-057'],
    hint: 'Header values are printable ASCII, and other values are encoded in Base64. Answer others with HTTP 400 and error -32020, even if they match the body after decoding.',
    async run(context) {
      const call = mirroredCall(context, 'string');
      const args = withValue(call.args, call.param.path, 'caf\u00e9');
      // Two encodings: Latin-1 and UTF-8.
      for (const header of ['caf\u00e9', Buffer.from('caf\u00e9').toString('latin1')]) {
        const answer = await callMirrored(context, call, args, { [call.header]: header });
        const bytes = Buffer.from(header, 'latin1').toString('hex');
        needRefusal(context, answer, `${call.tool.name} with ${call.header} of the bytes ${bytes}`, {});
      }
      return 'refused, as Latin-1 and as UTF-8';
    },
  },
  {
    ...about,
    id: 'http-params/unknown-ignored',
    title: 'Ignores unknown Mcp-Param headers',
    level: 'SHOULD',
    rules: [],
    reason:
      'Only known parameter headers are compared with the body. Proxies pass on and add others (HTTP-060).',
    hint: 'Read only the Mcp-Param headers that the schema of the called tool names.',
    async run(context) {
      const [{ method, params }] = namedRequests(context) as [{ method: string; params: object }];
      const { body, headers } = modernRequest(context, method, { ...params });
      const answer = await ask(context, context.openHttp(), {
        body,
        headers: { ...headers, 'mcp-param-isthmus-check': 'anything' },
      });
      needServed(context, answer, `${method} with Mcp-Param-Isthmus-Check`);
      return 'served';
    },
  },
  {
    ...about,
    id: 'http-params/no-secrets',
    lane: 'shared',
    title: 'Does not mirror secrets in headers',
    level: 'SHOULD',
    rules: ['HTTP-068'],
    hint: 'Remove x-mcp-header from arguments with passwords, keys, tokens or personal data: proxies and logs see headers.',
    run(context) {
      const params = context.facts.tools.flatMap((tool) => {
        const read = readHeaderParams(tool['inputSchema']);
        const found = read.kind === 'valid' ? read.params : [];
        return found.map(({ header, path }) => ({
          where: `${tool['name']}.${path.join('.')}`,
          header,
          path,
        }));
      });
      if (params.length === 0) return context.skip('no tool has x-mcp-header in its schema');
      const bad = params.filter(({ header, path }) => SECRET.test(header) || SECRET.test(path.at(-1) ?? ''));
      if (bad.length > 0) {
        context.fail(
          `${bad.map(({ where, header }) => `${where} is mirrored in Mcp-Param-${header}`).join('; ')}`,
          'no secrets in headers',
        );
      }
      return `${params.map(({ where }) => where).join(', ')}: no name suggests a secret`;
    },
  },
];

const SECRET =
  /pass(word|phrase|wd)|secret|api[-_]?key|private[-_]?key|credential|(access|auth|bearer|refresh)[-_]?token|^token$|ssn|email/i;

/** The tool may fail, but not because of its headers. */
function needNoMismatch(context: CheckContext, answer: Answer, what: string): void {
  if (answer.status !== 0 && answer.status < 500 && answer.code !== HEADER_MISMATCH) return;
  context.fail(`${what} was answered with ${answer.said}`, 'no error about the headers');
}

/** A tool with an argument that is also a header, and a valid call of it. */
interface MirroredCall {
  readonly tool: CallableTool;
  readonly param: HeaderParam;
  /** The name of the header, in lower case. */
  readonly header: string;
  readonly value: string | number | boolean;
  readonly args: JsonObject;
}

/** Skips if no callable tool has such an argument. */
function mirroredCall(context: CheckContext, type?: HeaderParam['type']): MirroredCall {
  const what = `with ${type ? `an argument of type ${type}` : 'an argument'} that is mirrored in a header`;
  const tool = context.needTool((each) => paramOf(each, type) !== undefined, what);
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

/** Calls the tool with these arguments; headers in `change` replace the usual ones. */
function callMirrored(
  context: CheckContext,
  { tool }: MirroredCall,
  args: JsonObject,
  change: Readonly<Record<string, string | undefined>>,
): Promise<Answer> {
  const { body, headers } = modernRequest(context, 'tools/call', { name: tool.name, arguments: args });
  return ask(context, context.openHttp(), { body, headers: { ...headers, ...change } });
}

function withValue(args: JsonObject, path: readonly string[], value: unknown): JsonObject {
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

/** The value of the argument, or one that the schema allows. */
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

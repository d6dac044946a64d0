import {
  encodeHeaderValue,
  headerParamValue,
  readHeaderParams,
} from '@isthmus/sdk/internal/era/modern/headers.js';
import { PARAM_TOOL } from '../scenarios/headers.js';
import { type ClientCheck, fail, pass, skip, works } from './check.js';
import { modernCalls, posts } from './headers.js';

/** Arguments that a client repeats in headers. */
export const PARAM_HEADERS: readonly ClientCheck[] = [
  param('mirrored', 'Repeats annotated arguments in Mcp-Param headers', ['HTTP-039'], ['Region', 'Zone']),
  param(
    'numbers',
    'Writes integers and booleans in Mcp-Param headers as JSON does',
    ['HTTP-053'],
    ['Count', 'Dry'],
  ),
  param('encoded', 'Encodes values that a header cannot hold', ['HTTP-054'], ['City', 'Padded']),
  param('sentinel', 'Encodes values that look as if they were encoded', ['HTTP-056'], ['Coded']),
  {
    id: 'headers/param-absent',
    suite: 'headers',
    title: 'Sends no Mcp-Param header for a missing argument, or one without annotation',
    level: 'MUST',
    rules: ['HTTP-049', 'HTTP-050'],
    hint: 'Send a header only for annotated arguments with a value other than null.',
    on: ['param-headers'],
    judge: (view) =>
      posts(modernCalls(view), ({ headers }, { params }) => {
        const allowed = mirrorsOf(params['arguments']).filter(({ value }) => value !== undefined);
        const names = new Set(allowed.map(({ header }) => `mcp-param-${header.toLowerCase()}`));
        const extra = Object.keys(headers).find((name) => name.startsWith('mcp-param-') && !names.has(name));
        return extra && `${extra} was sent`;
      }),
  },
  {
    id: 'headers/param-unlisted',
    suite: 'headers',
    title: 'Sends no Mcp-Param headers for a tool whose schema it has not seen',
    level: 'SHOULD',
    rules: ['HTTP-066'],
    hint: 'Without the schema you cannot know the headers. Do not guess.',
    on: ['unlisted'],
    judge(view) {
      const [call] = modernCalls(view);
      const listed = view.named('tools/list').some(({ index }) => call && index < call.index);
      if (!call || listed) return skip('the client listed the tools before it called one');
      return posts([call], ({ headers }) =>
        Object.keys(headers).find((name) => name.startsWith('mcp-param-')),
      );
    },
  },
  {
    id: 'headers/bad-annotations',
    suite: 'headers',
    title: 'Drops tools whose x-mcp-header is invalid, and keeps the others',
    level: 'MUST',
    rules: ['HTTP-046'],
    hint: 'A header name is a token, unique in the schema, on a string, integer or boolean reached through properties alone.',
    on: ['bad-annotations'],
    judge(view, facts) {
      if (!facts.modern) return skip('the client speaks the legacy era only');
      const call = view.named('tools/call')[0];
      if (!call) return works(view, facts);
      const name = String(call.params['name']);
      return name.startsWith('bad-')
        ? fail(`The client called ${name}`, 'The tool is dropped from the list', call)
        : pass(`It called ${name}, the first valid tool`);
    },
  },
  {
    id: 'headers/mismatch-refreshed',
    suite: 'headers',
    title: 'Lists the tools again after a header mismatch, and calls with the new headers',
    level: 'SHOULD',
    rules: ['HTTP-064', 'HTTP-065'],
    hint: 'On -32020 for a tool with x-mcp-header, send tools/list and repeat the call.',
    on: ['header-mismatch'],
    judge: works,
  },
];

/** The headers that the arguments require. */
function mirrorsOf(args: unknown) {
  const read = readHeaderParams(PARAM_TOOL['inputSchema']);
  const params = read.kind === 'valid' ? read.params : [];
  return params.map((each) => ({ header: each.header, value: headerParamValue(each, args) }));
}

function param(id: string, title: string, rules: readonly string[], names: readonly string[]): ClientCheck {
  return {
    id: `headers/param-${id}`,
    suite: 'headers',
    title,
    level: 'MUST',
    rules,
    hint: 'Mcp-Param-{x-mcp-header}: the value as text, or =?base64?…?= where it is not plain printable ASCII.',
    on: ['param-headers'],
    judge(view) {
      const [call] = modernCalls(view);
      if (!call?.head) return skip('the client did not call the tool in the modern era');
      const wanted = mirrorsOf(call.params['arguments']).filter(
        ({ header, value }) => names.includes(header) && value !== undefined,
      );
      if (wanted.length === 0)
        return skip('the client sent no such argument (the arguments are in MCP_STEPS)');
      for (const { header, value } of wanted) {
        const said = call.head.headers[`mcp-param-${header.toLowerCase()}`];
        const right = encodeHeaderValue(value as string);
        if (said !== right) {
          return fail(
            `Mcp-Param-${header} is ${JSON.stringify(said)}`,
            `Mcp-Param-${header}: ${right}`,
            call,
          );
        }
      }
      return pass(wanted.map(({ header }) => `Mcp-Param-${header}`).join(' and '));
    },
  };
}

import { META } from '../../../era/meta-keys.js';
import {
  decodeHeaderValue,
  encodeHeaderValue,
  headerParamValue,
  readHeaderParams,
  routingName,
} from '../../../era/modern/headers.js';
import { isAtLeast } from '../../../era/revisions.js';
import { isJsonObject } from '../../../wire/json-rpc.js';
import type { Head, Said, View } from '../read/view.js';
import { PARAM_TOOL } from '../scenarios/headers.js';
import { type ClientCheck, every, fail, pass, skip, works } from './check.js';

/** What a POST says in its headers. */
export const HEADERS: readonly ClientCheck[] = [
  {
    id: 'headers/accept',
    suite: 'headers',
    title: 'Accepts both application/json and text/event-stream on every POST',
    level: 'MUST',
    rules: ['HTTP-007'],
    hint: 'Accept: application/json, text/event-stream',
    on: 'all',
    over: ['http'],
    judge: (view) =>
      posts(view.said, ({ headers }) => {
        const accept = headers['accept'] ?? '';
        const lists = ['application/json', 'text/event-stream'].every((type) => accept.includes(type));
        return lists ? undefined : `Accept is ${JSON.stringify(accept)}`;
      }),
  },
  {
    id: 'headers/content-type',
    suite: 'headers',
    title: 'Calls its body application/json',
    level: 'SHOULD',
    rules: [],
    reason: 'The examples of the specification do, and servers refuse other bodies with 415.',
    hint: 'Content-Type: application/json',
    on: 'all',
    over: ['http'],
    judge: (view) =>
      posts(view.said, ({ headers }) =>
        /^application\/json\b/i.test(headers['content-type'] ?? '')
          ? undefined
          : `Content-Type is ${JSON.stringify(headers['content-type'])}`,
      ),
  },
  {
    id: 'headers/protocol-version',
    suite: 'headers',
    title: 'Says its version in MCP-Protocol-Version on every modern POST',
    level: 'MUST',
    rules: ['HTTP-026'],
    hint: 'Set the header on every request of the modern era, server/discover included.',
    on: 'all',
    over: ['http'],
    judge: (view) =>
      posts(modernRequests(view), ({ headers }) =>
        headers['mcp-protocol-version'] === undefined ? 'There is no MCP-Protocol-Version' : undefined,
      ),
  },
  {
    id: 'headers/protocol-version-matches',
    suite: 'headers',
    title: 'Says the same version in the header and in _meta',
    level: 'MUST',
    rules: ['HTTP-027'],
    hint: 'Take the header from the _meta of the request.',
    on: 'all',
    over: ['http'],
    judge: (view) =>
      posts(
        modernRequests(view).filter(({ head }) => head?.headers['mcp-protocol-version'] !== undefined),
        ({ headers }, { params }) => {
          const meta = isJsonObject(params['_meta']) ? params['_meta'][META.protocolVersion] : undefined;
          const header = headers['mcp-protocol-version'];
          return header === meta ? undefined : `The header says ${header}, _meta ${String(meta)}`;
        },
      ),
  },
  {
    id: 'headers/mcp-method',
    suite: 'headers',
    title: 'Repeats the method in Mcp-Method',
    level: 'MUST',
    rules: ['HTTP-008', 'HTTP-029'],
    hint: 'Mcp-Method is the method of the body, letter for letter.',
    on: 'all',
    over: ['http'],
    judge: (view) =>
      posts(modernRequests(view), ({ headers }, { method }) =>
        headers['mcp-method'] === method
          ? undefined
          : `Mcp-Method of ${method} is ${JSON.stringify(headers['mcp-method'])}`,
      ),
  },
  {
    id: 'headers/mcp-name',
    suite: 'headers',
    title: 'Repeats the name of the tool in Mcp-Name',
    level: 'MUST',
    rules: ['HTTP-030'],
    hint: 'Mcp-Name is params.name of tools/call and prompts/get, and params.uri of resources/read.',
    on: 'all',
    over: ['http'],
    judge: (view) =>
      posts(
        modernRequests(view).filter(({ method, params }) => routingName(method, params) !== undefined),
        ({ headers }, { method, params }) => {
          const name = routingName(method, params);
          const header = headers['mcp-name'];
          const said = header === undefined ? undefined : textIn(header);
          // What no header can hold is the next check's business.
          if (header !== undefined && encodeHeaderValue(name ?? '') !== name) return undefined;
          return said === name ? undefined : `Mcp-Name of ${name} is ${JSON.stringify(header)}`;
        },
      ),
  },
  {
    id: 'headers/mcp-name-encoded',
    suite: 'headers',
    title: 'Encodes a name that no header can hold as =?base64?…?=',
    level: 'MUST',
    rules: ['HTTP-031', 'HTTP-055'],
    hint: 'Base64 of the UTF-8 text, between =?base64? and ?= in lowercase.',
    on: ['odd-name'],
    judge: (view) =>
      posts(
        modernRequests(view).filter(({ method }) => method === 'tools/call'),
        ({ headers }, { params }) => {
          const wanted = encodeHeaderValue(String(params['name']));
          return headers['mcp-name'] === wanted
            ? undefined
            : `Mcp-Name is ${JSON.stringify(headers['mcp-name'])} instead of ${wanted}`;
        },
      ),
  },
  param('mirrored', 'Repeats annotated arguments in Mcp-Param headers', ['HTTP-039'], ['Region', 'Zone']),
  param(
    'numbers',
    'Writes integers and booleans in Mcp-Param headers as JSON does',
    ['HTTP-053'],
    ['Count', 'Dry'],
  ),
  param('encoded', 'Encodes values that no header can hold', ['HTTP-054'], ['City', 'Padded']),
  param('sentinel', 'Encodes values that look as if they were encoded', ['HTTP-056'], ['Coded']),
  {
    id: 'headers/param-absent',
    suite: 'headers',
    title: 'Sends no Mcp-Param header for an argument that is not there, or is not annotated',
    level: 'MUST',
    rules: ['HTTP-049', 'HTTP-050'],
    hint: 'Only annotated arguments with a value other than null have a header.',
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
    hint: 'Without a schema there is nothing to mirror; do not guess.',
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
    title: 'Drops tools whose x-mcp-header makes no sense, and keeps the others',
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
        ? fail(`The client called ${name}`, 'It does not know of it', call)
        : pass(`It called ${name}, the first good one`);
    },
  },
  {
    id: 'headers/mismatch-refreshed',
    suite: 'headers',
    title: 'Lists the tools again after a header mismatch, and calls with the new headers',
    level: 'SHOULD',
    rules: ['HTTP-064', 'HTTP-065'],
    hint: 'On -32020 for a tool with x-mcp-header: tools/list, then the call once more.',
    on: ['header-mismatch'],
    judge: works,
  },
  {
    id: 'headers/no-modern-session',
    suite: 'headers',
    title: 'Sends no Mcp-Session-Id in the modern era',
    level: 'SHOULD',
    rules: [],
    reason:
      'The modern era has no sessions (HTTP-070, SESS-013); a server that names one is behind the times.',
    hint: 'Keep the session id with the legacy session.',
    on: ['modern-session-header', 'modern-only', 'dual'],
    over: ['http'],
    judge: (view) =>
      posts(modernRequests(view), ({ headers }) =>
        headers['mcp-session-id'] === undefined ? undefined : 'A modern request has Mcp-Session-Id',
      ),
  },
  {
    id: 'headers/no-modern-get',
    suite: 'headers',
    title: 'Opens no GET stream at a modern server',
    level: 'SHOULD',
    rules: [],
    reason:
      'The modern era has no GET stream and no resumption (HTTP-069, HTTP-071); it costs a refusal each time.',
    hint: 'Use subscriptions/listen for news.',
    on: ['modern-only', 'dual', 'discover-newer'],
    over: ['http'],
    judge(view) {
      const modern = view.requests.find(
        ({ era, method }) => era === 'modern' && method !== 'server/discover',
      );
      if (!modern) return skip('the client said nothing in the modern era');
      const get = view.heads.find(
        ({ method, path }) => (method === 'GET' || method === 'DELETE') && !isWellKnown(path),
      );
      return get
        ? fail(`The client sent ${get.method}`, 'POST only', { index: view.transcript.entries.indexOf(get) })
        : pass('It sent POST only');
    },
  },
  {
    id: 'headers/legacy-version',
    suite: 'headers',
    title: 'Says the agreed revision in MCP-Protocol-Version after a handshake of 2025-06-18 or later',
    level: 'MUST',
    rules: ['LHTTP-024'],
    hint: 'Set MCP-Protocol-Version to the protocolVersion of the initialize result on all later requests.',
    on: ['legacy-2025-06-18', 'legacy-2025-11-25', 'legacy-asks', 'session-lost'],
    over: ['http'],
    judge(view) {
      const opened = view.named('initialize').find((each) => view.answerTo(each)?.message['result']);
      const result = opened && (view.answerTo(opened)?.message['result'] as { protocolVersion?: string });
      const revision = result?.protocolVersion ?? '';
      if (!opened || !isAtLeast(revision, '2025-06-18')) return skip('there was no such handshake');
      return posts(
        view.said.filter(
          ({ index, era, method }) => index > opened.index && era === 'legacy' && method !== 'initialize',
        ),
        ({ headers }) =>
          headers['mcp-protocol-version'] === revision
            ? undefined
            : `MCP-Protocol-Version is ${JSON.stringify(headers['mcp-protocol-version'])} instead of ${revision}`,
      );
    },
  },
];

function posts(said: readonly Said[], problem: (head: Head, said: Said) => string | undefined) {
  return every(
    said.filter(({ head }) => head !== undefined),
    {
      none: 'the client sent no such POST',
      problem: (each) => each.head && problem(each.head, each),
      expected: 'What the title says, on every POST',
      seen: (count) => `${count} POSTs did`,
    },
  );
}

/** What is asked for authorization's sake. */
export function isWellKnown(path: string): boolean {
  return path.includes('/.well-known/');
}

function modernRequests(view: View): readonly Said[] {
  return view.requests.filter(({ era }) => era === 'modern');
}

function modernCalls(view: View): readonly Said[] {
  return modernRequests(view).filter(({ method }) => method === 'tools/call');
}

function textIn(header: string): string | undefined {
  const decoded = decodeHeaderValue(header);
  return decoded.kind === 'value' ? decoded.value : undefined;
}

/** What the arguments have to say in headers. */
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

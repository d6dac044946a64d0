import { META } from '@isthmus/sdk/internal/era/meta-keys.js';
import {
  decodeHeaderValue,
  encodeHeaderValue,
  routingName,
} from '@isthmus/sdk/internal/era/modern/headers.js';
import { isAtLeast } from '@isthmus/sdk/internal/era/revisions.js';
import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { ENDPOINT } from '../scripted/script.js';
import type { Head, Said, View } from '../view.js';
import { type ClientCheck, every, fail, type Opinion, pass, skip } from './check.js';

/** The headers of a POST. */
export const HEADERS: readonly ClientCheck[] = [
  {
    id: 'headers/accept',
    suite: 'headers',
    title: 'Accepts both application/json and text/event-stream on every POST of Streamable HTTP',
    level: 'MUST',
    rules: ['HTTP-007'],
    hint: 'Send Accept: application/json, text/event-stream.',
    on: 'all',
    over: ['http'],
    judge: (view) =>
      posts(
        view.said.filter(({ head }) => head?.path !== ENDPOINT),
        ({ headers }) =>
          acceptsBoth(headers['accept']) ? undefined : `Accept is ${JSON.stringify(headers['accept'] ?? '')}`,
      ),
  },
  {
    id: 'headers/content-type',
    suite: 'headers',
    title: 'Sends Content-Type application/json',
    level: 'SHOULD',
    rules: [],
    reason: 'The examples of the specification do, and servers refuse other types with 415.',
    hint: 'Send Content-Type: application/json.',
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
    title: 'Sends MCP-Protocol-Version on every modern POST',
    level: 'MUST',
    rules: ['HTTP-026'],
    hint: 'Set the header on every modern request, including server/discover.',
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
    title: 'Sends the same version in the header and in _meta',
    level: 'MUST',
    rules: ['HTTP-027'],
    hint: 'Take the value of the header from _meta of the request.',
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
    hint: 'Set Mcp-Method to the method of the body, unchanged.',
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
          const said = header === undefined ? undefined : decodeHeaderValue(header);
          // headers/mcp-name-encoded judges names that a header cannot hold unchanged.
          if (header !== undefined && encodeHeaderValue(name ?? '') !== name) return undefined;
          return said === name ? undefined : `Mcp-Name of ${name} is ${JSON.stringify(header)}`;
        },
      ),
  },
  {
    id: 'headers/mcp-name-encoded',
    suite: 'headers',
    title: 'Encodes a name that a header cannot hold as =?base64?…?=',
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
  {
    id: 'headers/no-modern-session',
    suite: 'headers',
    title: 'Sends no Mcp-Session-Id in the modern era',
    level: 'SHOULD',
    rules: [],
    reason: 'The modern era has no sessions (HTTP-070, SESS-013), even if a server sends a session id.',
    hint: 'Send the session id only in its legacy session.',
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
    title: 'Opens no GET stream on a modern server',
    level: 'SHOULD',
    rules: [],
    reason:
      'The modern era has no GET stream and no resumption (HTTP-069, HTTP-071). The server refuses each attempt.',
    hint: 'Use subscriptions/listen for notifications.',
    on: ['modern-only', 'dual', 'discover-newer'],
    over: ['http'],
    judge(view) {
      const modern = view.requests.find(
        ({ era, method }) => era === 'modern' && method !== 'server/discover',
      );
      if (!modern) return skip('the client sent nothing in the modern era');
      const get = view.heads.find(({ method }) => method === 'GET' || method === 'DELETE');
      return get
        ? fail(`The client sent ${get.method}`, 'POST only', { index: view.transcript.entries.indexOf(get) })
        : pass('It sent POST only');
    },
  },
  {
    id: 'headers/legacy-version',
    suite: 'headers',
    title: 'Sends the agreed revision in MCP-Protocol-Version after a handshake of 2025-06-18 or later',
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

/** Judges every POST in the same way. */
export function posts(
  said: readonly Said[],
  problem: (head: Head, said: Said) => string | undefined,
): Opinion {
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

/** Every POST of Streamable HTTP must; a POST of HTTP+SSE need not. */
export function acceptsBoth(accept = ''): boolean {
  return ['application/json', 'text/event-stream'].every((type) => accept.includes(type));
}

function modernRequests(view: View): readonly Said[] {
  return view.requests.filter(({ era }) => era === 'modern');
}

export function modernCalls(view: View): readonly Said[] {
  return modernRequests(view).filter(({ method }) => method === 'tools/call');
}

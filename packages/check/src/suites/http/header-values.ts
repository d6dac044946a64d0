import type { Check } from '../../model.js';
import type { CheckContext } from '../../run/check-context.js';
import { type Answer, ask, needRefusal, needServed } from './asking/answer.js';
import { modernRequest, type NamedRequest, namedRequests, nameOf } from './asking/requests.js';

const HEADER_MISMATCH = -32020;

const about = { suite: 'http', era: 'modern', over: ['http'], lane: 'own', level: 'MUST' } as const;

/** How the values of headers are read: letter case, blanks, and Base64 between markers. */
export const headerValueChecks: readonly Check[] = [
  {
    ...about,
    id: 'http-headers/names-in-any-case',
    title: 'Reads header names in any case',
    rules: ['HTTP-035'],
    hint: 'Compare header names without regard to case, as HTTP does.',
    async run(table) {
      const { body } = modernRequest(table);
      for (const spell of [(name: string) => name.toUpperCase(), (name: string) => name.toLowerCase()]) {
        const headers = {
          [spell('Content-Type')]: 'application/json',
          [spell('Accept')]: 'application/json, text/event-stream',
          [spell('MCP-Protocol-Version')]: table.revision,
          [spell('Mcp-Method')]: body.method,
        };
        const answer = await ask(table, table.openHttp(), { body, headers });
        needServed(table, answer, `server/discover with the header ${spell('Mcp-Method')}`);
      }
      return 'served with MCP-METHOD and with mcp-method';
    },
  },
  {
    ...about,
    id: 'http-headers/values-keep-their-case',
    title: 'Compares header values with regard to case: SERVER/DISCOVER is not server/discover',
    rules: ['HTTP-036'],
    hint: 'Compare the values of Mcp-Method and Mcp-Name with the body exactly, case included.',
    async run(table) {
      const { body, headers } = modernRequest(table);
      const answer = await ask(table, table.openHttp(), {
        body,
        headers: { ...headers, 'mcp-method': 'SERVER/DISCOVER' },
      });
      needRefusal(table, answer, 'Mcp-Method: SERVER/DISCOVER', { codes: [HEADER_MISMATCH] });
      return `was answered with ${answer.said}`;
    },
  },
  {
    ...about,
    id: 'http-headers/blanks-around-values',
    title: 'Takes blanks around a header value for nothing',
    level: 'SHOULD',
    rules: [],
    reason:
      'Blanks around a field value are no part of it (RFC 9110, 5.5); proxies add and remove them at will.',
    hint: 'Trim spaces and tabs around header values before comparing them.',
    async run(table) {
      const { body, headers } = modernRequest(table);
      const answer = await ask(table, table.openHttp(), {
        body,
        headers: {
          ...headers,
          'mcp-method': `  ${body.method} \t`,
          'mcp-protocol-version': ` ${table.revision} `,
        },
      });
      needServed(table, answer, `server/discover with blanks around Mcp-Method and MCP-Protocol-Version`);
      return 'served';
    },
  },
  {
    ...about,
    id: 'http-headers/name-in-base64',
    title: 'Decodes an Mcp-Name between =?base64? and ?= before comparing it',
    rules: ['HTTP-034'],
    hint: 'Decode Mcp-Name when it has the form =?base64?…?= (Base64 of UTF-8), then compare it with the body.',
    async run(table) {
      const named = namedRequests(table);
      for (const each of named) {
        const answer = await askByName(table, each, `=?base64?${base64(nameOf(each))}?=`);
        needServed(table, answer, `${each.method} of ${nameOf(each)} with its name in Base64`);
      }
      return `${named.map(({ method }) => method).join(', ')}: served with the name in Base64`;
    },
  },
  {
    ...about,
    id: 'http-headers/name-in-broken-base64',
    title: 'Refuses an Mcp-Name whose Base64 cannot be decoded: 400 and -32020',
    rules: ['HTTP-059'],
    hint: 'Answer a header between =?base64? and ?= that is no Base64 with HTTP 400 and error -32020.',
    async run(table) {
      const [each] = namedRequests(table);
      const answer = await askByName(table, each!, '=?base64?SGVs!!!?=');
      needRefusal(table, answer, 'Mcp-Name: =?base64?SGVs!!!?=', { codes: [HEADER_MISMATCH] });
      return `was answered with ${answer.said}`;
    },
  },
  {
    ...about,
    id: 'http-headers/base64-is-exact',
    title: 'Does not overlook characters in Base64 that have no place there',
    level: 'SHOULD',
    rules: ['HTTP-059'],
    hint: 'Decode strictly: characters outside the Base64 alphabet make the value undecodable (RFC 4648, 3.3). Many decoders skip them unless told otherwise.',
    async run(table) {
      const [each] = namedRequests(table);
      const encoded = base64(nameOf(each!));
      const spoiled = `=?base64?${encoded.slice(0, 2)}!!${encoded.slice(2)}?=`;
      const answer = await askByName(table, each!, spoiled);
      needRefusal(table, answer, `Mcp-Name: ${spoiled}`, { codes: [HEADER_MISMATCH] });
      return `was answered with ${answer.said}`;
    },
  },
  {
    ...about,
    id: 'http-headers/base64-marker-in-lower-case',
    title: 'Takes =?BASE64?…?= for what it is, and not for Base64',
    rules: ['HTTP-055'],
    hint: 'Only the marker =?base64? in lower case begins an encoded value; anything else is the value itself, and here does not match the body: HTTP 400 and error -32020.',
    async run(table) {
      const [each] = namedRequests(table);
      const answer = await askByName(table, each!, `=?BASE64?${base64(nameOf(each!))}?=`);
      needRefusal(table, answer, `Mcp-Name with the marker =?BASE64?`, { codes: [HEADER_MISMATCH] });
      return `was answered with ${answer.said}`;
    },
  },
];

function askByName(table: CheckContext, { method, params }: NamedRequest, name: string): Promise<Answer> {
  const { body, headers } = modernRequest(table, method, params);
  return ask(table, table.openHttp(), { body, headers: { ...headers, 'mcp-name': name } });
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

import type { Check } from '../../../model.js';
import type { CheckContext } from '../../../run/check-context.js';
import { type Answer, ask, needRefusal, needServed } from '../client/answer.js';
import { modernRequest, type NamedRequest, namedRequests, nameOf } from '../client/requests.js';

const HEADER_MISMATCH = -32020;

const about = { suite: 'http', era: 'modern', over: ['http'], lane: 'own', level: 'MUST' } as const;

/** How a server reads header values: case, white space and Base64. */
export const headerValueChecks: readonly Check[] = [
  {
    ...about,
    id: 'http-headers/names-in-any-case',
    title: 'Reads header names in any case',
    rules: ['HTTP-035'],
    hint: 'Compare header names case-insensitively, as HTTP does.',
    async run(context) {
      const { body } = modernRequest(context);
      for (const spell of [(name: string) => name.toUpperCase(), (name: string) => name.toLowerCase()]) {
        const headers = {
          [spell('Content-Type')]: 'application/json',
          [spell('Accept')]: 'application/json, text/event-stream',
          [spell('MCP-Protocol-Version')]: context.revision,
          [spell('Mcp-Method')]: body.method,
        };
        const answer = await ask(context, context.openHttp(), { body, headers });
        needServed(context, answer, `server/discover with the header ${spell('Mcp-Method')}`);
      }
      return 'served with MCP-METHOD and with mcp-method';
    },
  },
  {
    ...about,
    id: 'http-headers/values-keep-their-case',
    title: 'Compares header values case-sensitively: SERVER/DISCOVER is not server/discover',
    rules: ['HTTP-036'],
    hint: 'Compare the values of Mcp-Method and Mcp-Name with the body exactly, case included.',
    async run(context) {
      const { body, headers } = modernRequest(context);
      const answer = await ask(context, context.openHttp(), {
        body,
        headers: { ...headers, 'mcp-method': 'SERVER/DISCOVER' },
      });
      needRefusal(context, answer, 'Mcp-Method: SERVER/DISCOVER', { codes: [HEADER_MISMATCH] });
      return `was answered with ${answer.said}`;
    },
  },
  {
    ...about,
    id: 'http-headers/blanks-around-values',
    title: 'Ignores white space around a header value',
    level: 'SHOULD',
    rules: [],
    reason:
      'White space around a field value is not part of it (RFC 9110, 5.5), and proxies may add or remove it.',
    hint: 'Trim spaces and tabs around header values before comparing them.',
    async run(context) {
      const { body, headers } = modernRequest(context);
      const answer = await ask(context, context.openHttp(), {
        body,
        headers: {
          ...headers,
          'mcp-method': `  ${body.method} \t`,
          'mcp-protocol-version': ` ${context.revision} `,
        },
      });
      needServed(
        context,
        answer,
        'server/discover with white space around Mcp-Method and MCP-Protocol-Version',
      );
      return 'served';
    },
  },
  {
    ...about,
    id: 'http-headers/name-in-base64',
    title: 'Decodes an Mcp-Name of the form =?base64?…?= before it compares it',
    rules: ['HTTP-034'],
    hint: 'Decode Mcp-Name if it has the form =?base64?…?= (Base64 of UTF-8), then compare it with the body.',
    async run(context) {
      const named = namedRequests(context);
      for (const each of named) {
        const answer = await askByName(context, each, `=?base64?${base64(nameOf(each))}?=`);
        needServed(context, answer, `${each.method} of ${nameOf(each)} with its name in Base64`);
      }
      return `${named.map(({ method }) => method).join(', ')}: served with the name in Base64`;
    },
  },
  {
    ...about,
    id: 'http-headers/name-in-broken-base64',
    title: 'Refuses an Mcp-Name with invalid Base64: 400 and -32020',
    rules: ['HTTP-059'],
    hint: 'Answer a header of the form =?base64?…?= with invalid Base64 with HTTP 400 and error -32020.',
    async run(context) {
      const [each] = namedRequests(context);
      const answer = await askByName(context, each!, '=?base64?SGVs!!!?=');
      needRefusal(context, answer, 'Mcp-Name: =?base64?SGVs!!!?=', { codes: [HEADER_MISMATCH] });
      return `was answered with ${answer.said}`;
    },
  },
  {
    ...about,
    id: 'http-headers/base64-is-exact',
    title: 'Refuses characters outside of the Base64 alphabet in an encoded value',
    level: 'SHOULD',
    rules: ['HTTP-059'],
    hint: 'Decode strictly: a value with characters outside of the Base64 alphabet is invalid (RFC 4648, 3.3). Many decoders skip them by default.',
    async run(context) {
      const [each] = namedRequests(context);
      const encoded = base64(nameOf(each!));
      const spoiled = `=?base64?${encoded.slice(0, 2)}!!${encoded.slice(2)}?=`;
      const answer = await askByName(context, each!, spoiled);
      needRefusal(context, answer, `Mcp-Name: ${spoiled}`, { codes: [HEADER_MISMATCH] });
      return `was answered with ${answer.said}`;
    },
  },
  {
    ...about,
    id: 'http-headers/base64-marker-in-lower-case',
    title: 'Does not decode =?BASE64?…?=: the marker must be lower case',
    rules: ['HTTP-055'],
    hint: 'Only the lower-case marker =?base64? begins an encoded value. Any other value is literal. Here it does not match the body: HTTP 400 and error -32020.',
    async run(context) {
      const [each] = namedRequests(context);
      const answer = await askByName(context, each!, `=?BASE64?${base64(nameOf(each!))}?=`);
      needRefusal(context, answer, `Mcp-Name with the marker =?BASE64?`, { codes: [HEADER_MISMATCH] });
      return `was answered with ${answer.said}`;
    },
  },
];

function askByName(context: CheckContext, { method, params }: NamedRequest, name: string): Promise<Answer> {
  const { body, headers } = modernRequest(context, method, params);
  return ask(context, context.openHttp(), { body, headers: { ...headers, 'mcp-name': name } });
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

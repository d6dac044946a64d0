import { META } from '@isthmus/sdk/internal/era/meta-keys.js';
import type { Check } from '../../../model.js';
import type { CheckContext } from '../../../run/check-context.js';
import { listsOf } from '../../protocol/features/lists.js';
import { ask, needRefusal } from '../client/answer.js';
import { type BareRequest, modernRequest, namedRequests, nameOf } from '../client/requests.js';

const HEADER_MISMATCH = -32020;
const UNSUPPORTED_VERSION = -32022;
const INVALID_PARAMS = -32602;

const about = { suite: 'http', era: 'modern', over: ['http'], lane: 'own', level: 'MUST' } as const;

/** The required headers of modern requests. */
export const requiredHeaderChecks: readonly Check[] = [
  {
    ...about,
    id: 'http-headers/version-required',
    title: 'Refuses a modern request without MCP-Protocol-Version: 400 and -32020',
    rules: ['HTTP-032', 'ERR-013', 'VER-025'],
    hint: 'Answer a modern request that has no MCP-Protocol-Version header with HTTP 400 and error -32020.',
    async run(context) {
      const answer = await askWith(context, modernRequest(context), { 'mcp-protocol-version': undefined });
      // A server of both eras may treat it as a request of 2025-03-26 (VER-024), which has no such method.
      const isLegacyAnswer = context.factsOf('legacy') && !answer.result && answer.status < 500;
      if (answer.status === 0 || !isLegacyAnswer) {
        needRefusal(context, answer, 'server/discover without MCP-Protocol-Version', {
          codes: [HEADER_MISMATCH],
        });
      }
      return `was answered with ${answer.said}`;
    },
  },
  {
    ...about,
    id: 'http-headers/method-required',
    title: 'Refuses a modern request without Mcp-Method: 400 and -32020',
    rules: ['HTTP-032', 'ERR-013'],
    hint: 'Answer a modern request that has no Mcp-Method header with HTTP 400 and error -32020.',
    async run(context) {
      const answer = await askWith(context, modernRequest(context), { 'mcp-method': undefined });
      needRefusal(context, answer, 'server/discover without Mcp-Method', { codes: [HEADER_MISMATCH] });
      return `was answered with ${answer.said}`;
    },
  },
  {
    ...about,
    id: 'http-headers/name-required',
    title: 'Refuses tools/call, prompts/get and resources/read without Mcp-Name: 400 and -32020',
    rules: ['HTTP-032', 'ERR-013'],
    hint: 'Answer tools/call, prompts/get and resources/read without Mcp-Name with HTTP 400 and error -32020.',
    async run(context) {
      const named = namedRequests(context);
      for (const { method, params } of named) {
        const answer = await askWith(context, modernRequest(context, method, params), {
          'mcp-name': undefined,
        });
        needRefusal(context, answer, `${method} without Mcp-Name`, { codes: [HEADER_MISMATCH] });
      }
      return `${named.map(({ method }) => method).join(', ')} without Mcp-Name: refused`;
    },
  },
  {
    ...about,
    id: 'http-headers/version-matches-body',
    title: 'Refuses a version in the body that differs from the header: 400 and -32020',
    rules: ['HTTP-027', 'HTTP-028', 'HTTP-033'],
    hint: 'Compare MCP-Protocol-Version with the protocolVersion in _meta. If they differ, answer with HTTP 400 and error -32020.',
    async run(context) {
      const other = '2025-11-25';
      const request = modernRequest(
        context,
        'server/discover',
        {},
        { meta: { [META.protocolVersion]: other } },
      );
      const answer = await askWith(context, request, {});
      needRefusal(context, answer, `MCP-Protocol-Version: ${context.revision} with ${other} in the body`, {
        codes: supports(context, other) ? [HEADER_MISMATCH] : [HEADER_MISMATCH, UNSUPPORTED_VERSION],
      });
      return `was answered with ${answer.said}`;
    },
  },
  {
    ...about,
    id: 'http-headers/body-matches-version',
    title: 'Refuses a version header that differs from the body: 400',
    rules: ['HTTP-028', 'HTTP-033'],
    hint: 'Read MCP-Protocol-Version on every modern request. If it differs from the protocolVersion in _meta, answer with HTTP 400 and error -32020.',
    async run(context) {
      const methods = ['server/discover', ...listsOf(context).map(({ method }) => method)];
      for (const method of methods) {
        for (const version of ['2999-01-01', '2026-07-27']) {
          const answer = await askWith(context, modernRequest(context, method), {
            'mcp-protocol-version': version,
          });
          needRefusal(
            context,
            answer,
            `${method} with MCP-Protocol-Version: ${version}, and ${context.revision} in the body,`,
            {
              // A server may check the header before the body.
              codes: [HEADER_MISMATCH, UNSUPPORTED_VERSION],
            },
          );
        }
      }
      return `${methods.join(', ')}: refused with another version in the header`;
    },
  },
  {
    ...about,
    id: 'http-headers/method-matches-body',
    title: 'Refuses an Mcp-Method that differs from the method in the body: 400 and -32020',
    rules: ['HTTP-033', 'ERR-013'],
    hint: 'Compare Mcp-Method with the method in the body. If they differ, answer with HTTP 400 and error -32020.',
    async run(context) {
      const answer = await askWith(context, modernRequest(context), { 'mcp-method': 'tools/list' });
      needRefusal(context, answer, 'server/discover with Mcp-Method: tools/list', {
        codes: [HEADER_MISMATCH],
      });
      return `was answered with ${answer.said}`;
    },
  },
  {
    ...about,
    id: 'http-headers/name-matches-body',
    title: 'Refuses an Mcp-Name that differs from the name or URI in the body: 400 and -32020',
    rules: ['HTTP-033', 'ERR-013'],
    hint: 'Compare Mcp-Name with params.name (tools/call, prompts/get) or params.uri (resources/read). If they differ, answer with HTTP 400 and error -32020.',
    async run(context) {
      const named = namedRequests(context);
      for (const each of named) {
        const answer = await askWith(context, modernRequest(context, each.method, each.params), {
          'mcp-name': 'isthmus-check-another',
        });
        const what = `${each.method} of ${nameOf(each)} with Mcp-Name: isthmus-check-another`;
        needRefusal(context, answer, what, { codes: [HEADER_MISMATCH] });
      }
      return `${named.map(({ method }) => method).join(', ')} with another Mcp-Name: refused`;
    },
  },
  {
    ...about,
    id: 'http-headers/unsupported-version',
    title: 'Answers an unsupported version with 400 and -32022',
    rules: ['ERR-012'],
    hint: 'Answer a request with an unsupported version in header and body with HTTP 400 and error -32022, and list the supported versions in data.supported.',
    async run(context) {
      const version = '2999-01-01';
      const request = modernRequest(
        context,
        'server/discover',
        {},
        { meta: { [META.protocolVersion]: version } },
      );
      const answer = await askWith(context, request, { 'mcp-protocol-version': version });
      needRefusal(context, answer, `server/discover in version ${version}`, { codes: [UNSUPPORTED_VERSION] });
      return `was answered with ${answer.said}`;
    },
  },
  {
    ...about,
    id: 'http-headers/meta-required',
    title: 'Answers a request without a required _meta member with 400 and -32602',
    rules: ['META-004', 'META-005'],
    hint: 'Answer requests whose _meta lacks protocolVersion or clientCapabilities with HTTP 400 and error -32602.',
    async run(context) {
      for (const key of [META.clientCapabilities, META.protocolVersion]) {
        const request = modernRequest(context, 'server/discover', {}, { meta: { [key]: undefined } });
        const answer = await askWith(context, request, {});
        // Without a version in the body, the header also differs from the body.
        const codes = key === META.protocolVersion ? [INVALID_PARAMS, HEADER_MISMATCH] : [INVALID_PARAMS];
        needRefusal(context, answer, `server/discover without ${key} in _meta`, { codes });
      }
      return 'refused with 400 without clientCapabilities and without protocolVersion';
    },
  },
];

function askWith(
  context: CheckContext,
  { body, headers }: BareRequest,
  change: Readonly<Record<string, string | undefined>>,
) {
  return ask(context, context.openHttp(), { body, headers: { ...headers, ...change } });
}

function supports(context: CheckContext, version: string): boolean {
  const versions = context.facts.hello['supportedVersions'];
  return Array.isArray(versions) && versions.includes(version);
}

import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { answering, changingResult } from '../../support/suites/altered.js';
import type { AnyMutant, Middle } from '../../support/suites/mutant.js';

const MODERN = { eras: ['modern'] } as const;
const LEGACY = { eras: ['legacy'] } as const;

const COMPLETE = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };

/** Reading, where it is about a URI that fits. */
const reading = (
  fits: (uri: unknown) => boolean,
  answer: (uri: unknown) => { readonly result: JsonObject } | { readonly error: unknown },
) =>
  answering(({ method, params }) =>
    method === 'resources/read' && fits(params['uri']) ? answer(params['uri']) : undefined,
  );

const isNowhere = (uri: unknown) => String(uri).startsWith('isthmus-check:');
const textOf = (uri: unknown, text = 'hello') => ({ result: { ...COMPLETE, contents: [{ uri, text }] } });

const listing = (method: string, member: string, change: (item: JsonObject) => JsonObject): (() => Middle) =>
  changingResult(method, (result) => ({ ...result, [member]: (result[member] as JsonObject[]).map(change) }));

export const resourceMutants: readonly AnyMutant[] = [
  {
    check: 'resources/missing',
    fault: 'returns empty contents for a missing resource',
    seen: /a result with/,
    options: MODERN,
    middle: reading(isNowhere, () => ({ result: { ...COMPLETE, contents: [] } })),
  },
  {
    check: 'resources/missing',
    fault: 'still answers -32002',
    seen: /-32002/,
    options: MODERN,
    middle: reading(isNowhere, (uri) => ({ error: { code: -32002, message: 'Not found', data: { uri } } })),
  },
  {
    check: 'resources/legacy-missing',
    fault: 'answers a legacy client with -32603',
    seen: /-32603/,
    options: LEGACY,
    middle: reading(isNowhere, () => ({ error: { code: -32603, message: 'ENOENT' } })),
  },
  {
    check: 'resources/missing-named',
    fault: 'does not say what was not found',
    seen: /absent/,
    options: LEGACY,
    middle: reading(isNowhere, () => ({ error: { code: -32002, message: 'Not found' } })),
  },
  {
    check: 'resources/malformed-uri',
    fault: 'reads anything',
    seen: /no uri at all/,
    options: LEGACY,
    middle: reading((uri) => uri === 'no uri at all', textOf),
  },
  {
    check: 'resources/uri-needed',
    fault: 'stumbles over a missing URI',
    seen: /-32603/,
    options: MODERN,
    middle: reading(
      (uri) => uri === undefined,
      () => ({ error: { code: -32603, message: 'Cannot read properties of undefined' } }),
    ),
  },
  {
    check: 'resources/listed-are-readable',
    fault: 'lists what cannot be read',
    seen: /demo:\/\/clock gave error -32603/,
    options: LEGACY,
    middle: reading(
      (uri) => uri === 'demo://clock',
      () => ({ error: { code: -32603, message: 'No clock' } }),
    ),
  },
  {
    check: 'resources/contents-named',
    fault: 'gives other contents than were asked for',
    seen: /contents of demo:\/\/other/,
    options: LEGACY,
    middle: reading(
      (uri) => uri === 'demo://clock',
      () => textOf('demo://other'),
    ),
  },
  {
    check: 'resources/uris',
    fault: 'has a space in a URI',
    seen: /"demo:\/\/the clock"/,
    options: MODERN,
    middle: listing('resources/list', 'resources', (item) =>
      item['uri'] === 'demo://clock' ? { ...item, uri: 'demo://the clock' } : item,
    ),
  },
  {
    check: 'resources/templates',
    fault: 'leaves a brace open',
    seen: /"test:\/\/template\/\{id"/,
    options: LEGACY,
    middle: listing('resources/templates/list', 'resourceTemplates', (item) => ({
      ...item,
      uriTemplate: 'test://template/{id',
    })),
  },
  {
    check: 'resources/traversal',
    fault: 'lets dots out of its folder',
    seen: /%2e%2e/,
    options: MODERN,
    middle: () => {
      const file = listing('resources/list', 'resources', (item) =>
        item['uri'] === 'demo://clock' ? { ...item, uri: 'file:///srv/docs/read-me.txt' } : item,
      )();
      const out = reading(
        (uri) => String(uri).includes('%2e%2e/'),
        (uri) => textOf(uri, 'root:x:0:0'),
      )();
      return {
        outgoing: file.outgoing!,
        incoming(message, io) {
          const next = out.incoming!(message, io);
          return isJsonObject(next) ? file.incoming!(next, io) : undefined;
        },
      };
    },
  },
];

const getting = (
  fits: (params: JsonObject) => boolean,
  answer: { readonly result: JsonObject } | { readonly error: unknown },
) => answering(({ method, params }) => (method === 'prompts/get' && fits(params) ? answer : undefined));

const PROMPT = {
  result: { resultType: 'complete', messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }] },
};
const STUMBLE = { error: { code: -32603, message: 'Cannot read properties of undefined' } };

export const promptMutants: readonly AnyMutant[] = [
  {
    check: 'prompts/unknown',
    fault: 'returns a prompt for any name',
    seen: /a result with/,
    options: LEGACY,
    middle: getting(({ name }) => String(name).startsWith('isthmus_check'), PROMPT),
  },
  {
    check: 'prompts/missing-argument',
    fault: 'does without required arguments',
    seen: /a result with/,
    options: MODERN,
    middle: getting(({ arguments: given }) => isJsonObject(given) && Object.keys(given).length === 0, PROMPT),
  },
  {
    check: 'prompts/name-needed',
    fault: 'stumbles over a missing name',
    seen: /-32603/,
    options: LEGACY,
    middle: getting(({ name }) => name === undefined, STUMBLE),
  },
  {
    check: 'prompts/listed-are-there',
    fault: 'lists a prompt that it does not have',
    seen: /test_simple_prompt/,
    options: LEGACY,
    middle: getting(({ name }) => name === 'test_simple_prompt', STUMBLE),
  },
  {
    check: 'prompts/same-everywhere',
    fault: 'has another prompt on every connection',
    seen: /secret_\d+ is in prompts\/list/,
    options: MODERN,
    middle: () => {
      connections += 1;
      const own = { name: `secret_${connections}` };
      return changingResult('prompts/list', (result) => ({
        ...result,
        prompts: [...(result['prompts'] as JsonObject[]), own],
      }))();
    },
  },
  {
    check: 'prompts/same-everywhere',
    fault: 'hides a resource once it was read',
    seen: /demo:\/\/clock is in resources\/list/,
    options: MODERN,
    middle: () => {
      let isRead = false;
      const hide = changingResult('resources/list', (result) => ({
        ...result,
        resources: (result['resources'] as JsonObject[]).filter(
          ({ uri }) => !isRead || uri !== 'demo://clock',
        ),
      }))();
      return {
        ...hide,
        incoming(message, io) {
          isRead ||= message['method'] === 'resources/read';
          return hide.incoming!(message, io);
        },
      };
    },
  },
];

let connections = 0;

const completing = (
  fits: (params: JsonObject) => boolean,
  answer: { readonly result: JsonObject } | { readonly error: unknown },
) =>
  answering(({ method, params }) => (method === 'completion/complete' && fits(params) ? answer : undefined));

const NONE = { result: { resultType: 'complete', completion: { values: [] } } };
const nameIn = ({ ref }: JsonObject) => String((ref as JsonObject)['name'] ?? (ref as JsonObject)['uri']);

export const completionMutants: readonly AnyMutant[] = [
  {
    check: 'completion/at-most-100',
    fault: 'suggests 101 values',
    seen: /101 values/,
    options: LEGACY,
    middle: changingResult('completion/complete', () => ({
      completion: { values: Array.from({ length: 101 }, String) },
    })),
  },
  {
    check: 'completion/well-formed',
    fault: 'suggests numbers',
    seen: /values\[0\]: expected a string, got 1/,
    options: LEGACY,
    middle: changingResult('completion/complete', () => ({ completion: { values: [1] } })),
  },
  {
    check: 'completion/unknown-prompt',
    fault: 'has no suggestions for a prompt that it does not have',
    seen: /a result with/,
    options: MODERN,
    middle: completing((params) => nameIn(params) === 'isthmus_check_no_such_prompt', NONE),
  },
  {
    check: 'completion/unknown-template',
    fault: 'has no suggestions for a template that it does not have',
    seen: /a result with/,
    options: LEGACY,
    middle: completing((params) => nameIn(params).startsWith('isthmus-check:'), NONE),
  },
  {
    check: 'completion/missing-argument',
    fault: 'stumbles over a missing argument',
    seen: /-32603/,
    options: MODERN,
    middle: completing(({ argument }) => argument === undefined, STUMBLE),
  },
];

const withIcons = (icons: readonly JsonObject[]) =>
  listing('tools/list', 'tools', (tool) => (tool['name'] === 'echo' ? { ...tool, icons } : tool));

export const iconMutants: readonly AnyMutant[] = [
  {
    check: 'icons/safe-source',
    fault: 'has an icon in a file',
    seen: /the tool echo has "file:\/\/\/icon\.png"/,
    options: MODERN,
    middle: withIcons([{ src: 'file:///icon.png' }]),
  },
  {
    check: 'icons/known-type',
    fault: 'has icons of a type that few show',
    seen: /the tool echo has image\/x-icon only/,
    options: LEGACY,
    middle: withIcons([{ src: 'https://example.com/icon.ico', mimeType: 'image/x-icon' }]),
  },
];

/** Where the icons are as they should be. */
export const soundIcons = withIcons([
  { src: 'https://example.com/icon.ico', mimeType: 'image/x-icon' },
  { src: 'data:image/png;base64,AAAA', mimeType: 'image/png' },
]);

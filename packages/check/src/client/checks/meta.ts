import { META } from '@isthmus/sdk/internal/era/meta-keys.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Said } from '../view.js';
import { type ClientCheck, every } from './check.js';

/** The members of `_meta` that every modern request has. */
export const META_CHECKS: readonly ClientCheck[] = [
  meta('protocolVersion', 'MUST', 'META-001', 'sends its version', (value) => typeof value === 'string'),
  meta('clientCapabilities', 'MUST', 'META-002', 'declares its capabilities', isJsonObject),
  meta(
    'clientInfo',
    'SHOULD',
    'META-003',
    'sends its name and version',
    (value) =>
      isJsonObject(value) && typeof value['name'] === 'string' && typeof value['version'] === 'string',
  ),
  {
    id: 'messages/meta-keys',
    suite: 'messages',
    title: 'Uses well-formed _meta keys, and no reserved names',
    level: 'MUST',
    rules: ['META-015', 'META-016', 'META-018'],
    hint: 'Give your own keys a prefix in reverse-DNS order, such as com.example/key.',
    on: 'all',
    judge: (view) =>
      every(
        view.said.filter(({ params }) => isJsonObject(params['_meta'])),
        {
          none: 'the client sent no _meta',
          problem({ params }) {
            const odd = Object.keys(params['_meta'] as JsonObject).find((key) => !isMetaKey(key));
            return odd === undefined ? undefined : `_meta has the key ${JSON.stringify(odd)}`;
          },
          expected: 'prefix.of.labels/name, and no undefined name with a prefix of the protocol',
          seen: (count) => `The keys of ${count} messages are well-formed`,
        },
      ),
  },
];

function meta(
  key: 'protocolVersion' | 'clientCapabilities' | 'clientInfo',
  level: ClientCheck['level'],
  rule: string,
  does: string,
  isFine: (value: unknown) => boolean,
): ClientCheck {
  return {
    id: `messages/meta-${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
    suite: 'messages',
    title: `In the modern era, ${does} in every request`,
    level,
    rules: [rule],
    hint: `Put ${META[key]} into params._meta of each request. The server remembers nothing from one request to the next.`,
    on: 'all',
    judge: (view) =>
      every(
        view.requests.filter(({ era }) => era === 'modern'),
        {
          none: 'the client sent no request in the modern era',
          problem({ params, method }) {
            const value = isJsonObject(params['_meta']) ? params['_meta'][META[key]] : undefined;
            return isFine(value) ? undefined : `${method} has ${JSON.stringify(value)} for ${META[key]}`;
          },
          expected: `${META[key]} in params._meta`,
          seen: (count) => `${count} requests had it`,
        },
      ),
  };
}

const PREFIX = /^[a-zA-Z](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?$/;
const NAME = /^(?:[a-zA-Z0-9](?:[a-zA-Z0-9_.-]*[a-zA-Z0-9])?)?$/;

function isMetaKey(key: string): boolean {
  const at = key.lastIndexOf('/');
  const name = key.slice(at + 1);
  if (!NAME.test(name)) return false;
  if (at < 0) return true;
  const labels = key.slice(0, at).split('.');
  if (!labels.every((label) => PREFIX.test(label))) return false;
  const reserved = labels[1] === 'modelcontextprotocol' || labels[1] === 'mcp';
  return !reserved || DEFINED.has(key);
}

const DEFINED: ReadonlySet<string> = new Set([
  ...Object.values(META),
  'io.modelcontextprotocol/related-task',
]);

/** The capabilities that the client declares. */
export const CAPABILITIES: readonly ClientCheck[] = [
  {
    id: 'messages/capability-shapes',
    suite: 'messages',
    title: 'Declares capabilities in the form of the era',
    level: 'MUST',
    rules: ['ELIC-002', 'ROOT-002', 'VER-020', 'VER-023'],
    hint: 'Capabilities are objects. elicitation has form and url. Modern roots has no listChanged. Names of extensions have prefixes.',
    on: 'all',
    judge(view) {
      const declaring = view.requests.flatMap((each) => {
        const capabilities = declaredIn(each);
        return capabilities ? [{ index: each.index, capabilities, era: each.era }] : [];
      });
      return every(declaring, {
        none: 'the client declared no capabilities',
        problem: ({ capabilities, era }) => oddCapabilities(capabilities, era),
        expected: 'Objects with the members of the revision',
        seen: (count) => `${count} requests did`,
      });
    },
  },
];

function declaredIn({ params, method, era }: Said): JsonObject | undefined {
  const meta = params['_meta'];
  const declared =
    era === 'legacy'
      ? method === 'initialize' && params['capabilities']
      : isJsonObject(meta) && meta[META.clientCapabilities];
  return isJsonObject(declared) ? declared : undefined;
}

function oddCapabilities(capabilities: JsonObject, era: Said['era']): string | undefined {
  const { elicitation, roots, extensions } = capabilities;
  for (const [name, value] of Object.entries(capabilities)) {
    if (!isJsonObject(value)) return `${name} is ${JSON.stringify(value)}`;
  }
  if (isJsonObject(elicitation)) {
    const odd = Object.keys(elicitation).find(
      (mode) => mode !== 'form' && mode !== 'url' && era === 'modern',
    );
    if (odd !== undefined) return `elicitation has ${odd}`;
  }
  if (era === 'modern' && isJsonObject(roots) && 'listChanged' in roots) return 'roots has listChanged';
  if (isJsonObject(extensions)) {
    const odd = Object.entries(extensions).find(
      ([name, value]) => !name.includes('/') || !isJsonObject(value),
    );
    if (odd) return `extensions has ${odd[0]}: ${JSON.stringify(odd[1])}`;
  }
  return undefined;
}

import { META } from '@isthmus/sdk/internal/era/meta-keys.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Said } from '../read/view.js';
import { type ClientCheck, every } from './check.js';

/** What the client says that it can do. */
export const CAPABILITIES: readonly ClientCheck[] = [
  {
    id: 'messages/capability-shapes',
    suite: 'messages',
    title: 'Declares capabilities in the shapes of the era',
    level: 'MUST',
    rules: ['ELIC-002', 'ROOT-002', 'VER-020', 'VER-023'],
    hint: 'Capabilities are objects; elicitation knows form and url; modern roots have no listChanged; extensions have prefixes.',
    on: 'all',
    judge(view) {
      const declaring = view.requests.flatMap((each) => {
        const capabilities = declaredIn(each);
        return capabilities ? [{ index: each.index, capabilities, era: each.era }] : [];
      });
      return every(declaring, {
        none: 'the client declared nothing',
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

import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Check } from '../../../model.js';
import type { CheckContext } from '../../../run/check-context.js';
import { several } from '../answers.js';

/** Icons of tools, prompts, resources and the server itself. */
export const iconChecks: readonly Check[] = [
  {
    id: 'icons/safe-source',
    suite: 'protocol',
    title: 'Uses https: or data: URIs for its icons',
    level: 'SHOULD',
    rules: ['ICON-003'],
    reason: 'Clients must reject all other schemes.',
    hint: 'Serve icons over https, or embed them in a data: URI.',
    run(context) {
      const icons = needIcons(context);
      const bad = icons.filter(({ icon }) => !/^(https|data):/i.test(String(icon['src'])));
      if (bad.length > 0)
        context.fail(
          `${bad.length} of ${icons.length} icons: ${several(bad.map(({ of, icon }) => `${of} has ${JSON.stringify(icon['src'])}`))}`,
          'https: or data:',
        );
      return `${icons.length} icons are at https: or in data: URIs`;
    },
  },
  {
    id: 'icons/known-type',
    suite: 'protocol',
    title: 'Has an icon of a type that clients can show',
    level: 'SHOULD',
    rules: ['ICON-001', 'ICON-002'],
    reason: 'Clients must support PNG and JPEG, and should support SVG and WebP.',
    hint: 'Offer PNG, JPEG, SVG or WebP in addition to other types.',
    run(context) {
      const typed = needIcons(context).filter(({ icon }) => icon['mimeType'] !== undefined);
      if (typed.length === 0) context.skip('no icon has a media type');
      const owners = [...new Set(typed.map(({ of }) => of))];
      const bad = owners.find((owner) =>
        typed.every(({ of, icon }) => of !== owner || !KNOWN.test(String(icon['mimeType']))),
      );
      if (bad !== undefined) {
        const types = typed.filter(({ of }) => of === bad).map(({ icon }) => String(icon['mimeType']));
        context.fail(`${bad} has ${types.join(', ')} only`, 'PNG, JPEG, SVG or WebP');
      }
      return `${owners.length} icons are PNG, JPEG, SVG or WebP`;
    },
  },
];

const KNOWN = /^image\/(png|jpe?g|svg\+xml|webp)$/i;

interface Owned {
  /** `the tool echo`, `the server` */
  readonly of: string;
  readonly icon: JsonObject;
}

/** All icons. Skips if there are none. */
function needIcons(context: CheckContext): Owned[] {
  if (context.revision < '2025-11-25') context.skip(`revision ${context.revision} knows no icons`);
  const { tools, prompts, resources, templates, serverInfo } = context.facts;
  const icons = [
    ...iconsOf('the tool', tools),
    ...iconsOf('the prompt', prompts),
    ...iconsOf('the resource', resources),
    ...iconsOf('the template', templates),
    ...(serverInfo ? iconsOf('the server', [serverInfo]) : []),
  ];
  return icons.length > 0 ? icons : context.skip('the server has no icons');
}

function iconsOf(kind: string, items: readonly JsonObject[]): Owned[] {
  return items.flatMap(({ name, icons }) =>
    Array.isArray(icons)
      ? icons.filter(isJsonObject).map((icon) => ({ of: `${kind} ${String(name)}`, icon }))
      : [],
  );
}

import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Check } from '../../model.js';
import { judgeEach, nameOf, needTools, summary } from './each-tool.js';
import { propertiesOf } from './schemas.js';

/** Descriptions and annotations of tools. */
export const toolDescriptionChecks: readonly Check[] = [
  {
    id: 'tools/described',
    suite: 'tools',
    title: 'Describes every tool',
    level: 'SHOULD',
    rules: [],
    reason: 'A model chooses a tool by its description. Without one, it has only the name.',
    hint: 'Describe in one or two sentences what the tool does and when to use it.',
    run: (context) =>
      judgeEach(
        context,
        ({ description }) =>
          typeof description === 'string' && description.trim().length >= 3 ? undefined : 'no description',
        'a description',
      ),
  },
  {
    id: 'tools/descriptions-differ',
    suite: 'tools',
    title: 'Gives every tool a different description',
    level: 'SHOULD',
    rules: [],
    reason: 'A model cannot distinguish two tools with the same description.',
    hint: 'Describe how they differ.',
    run(context) {
      const groups = new Map<string, string[]>();
      for (const tool of needTools(context)) {
        const text = typeof tool['description'] === 'string' ? tool['description'].trim() : '';
        if (text !== '') groups.set(text, [...(groups.get(text) ?? []), nameOf(tool)]);
      }
      const same = [...groups.values()].filter((names) => names.length > 1);
      if (same.length > 0)
        context.fail(
          summary(same.map((names) => `${names.join(' and ')} have the same description`)),
          'a different description for each',
        );
      return `${groups.size} descriptions`;
    },
  },
  {
    id: 'tools/descriptions-bounded',
    suite: 'tools',
    title: 'Keeps each tool definition below 16 KiB',
    level: 'SHOULD',
    rules: [],
    reason: 'Every definition is sent to the model with every request. Hosts truncate or refuse longer ones.',
    hint: 'Shorten the description, or move documentation into a resource or prompt.',
    run: (context) =>
      judgeEach(
        context,
        (tool) => {
          const bytes = Buffer.byteLength(JSON.stringify(tool));
          return bytes > 16 * 1024 ? `${bytes} bytes` : undefined;
        },
        'at most 16384 bytes for a tool',
      ),
  },
  {
    id: 'tools/no-hidden-text',
    suite: 'tools',
    title: 'Has no invisible characters in names and descriptions',
    level: 'SHOULD',
    rules: [],
    reason:
      'A model reads invisible characters, but the user who approves the tool does not see them. They can hide instructions.',
    hint: 'Remove control characters, zero-width characters, bidirectional overrides and tag characters.',
    run: (context) =>
      judgeEach(
        context,
        (tool) => {
          const found = HIDDEN.exec(
            JSON.stringify(tool).replace(/\\u([0-9a-f]{4})/gi, (_, hex) =>
              String.fromCharCode(Number.parseInt(hex, 16)),
            ),
          );
          return found
            ? `contains the character U+${found[0].codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`
            : undefined;
        },
        'only visible text',
      ),
  },
  {
    id: 'tools/arguments-described',
    suite: 'tools',
    title: 'Describes every argument',
    level: 'SHOULD',
    rules: [],
    reason: 'A model that guesses the meaning of an argument often guesses wrong.',
    hint: 'Give every property a description (or a title, or a clear enum).',
    run: (context) =>
      judgeEach(
        context,
        (tool) => {
          const mute = propertiesOf(tool).filter(
            ([, each]) =>
              each['description'] === undefined &&
              each['title'] === undefined &&
              each['enum'] === undefined &&
              each['$ref'] === undefined &&
              each['const'] === undefined,
          );
          return mute.length > 0 ? `no description of ${mute.map(([name]) => name).join(', ')}` : undefined;
        },
        'a description for every argument',
      ),
  },
  {
    id: 'tools/annotations-agree',
    suite: 'tools',
    title: 'Has no contradicting annotations',
    level: 'SHOULD',
    rules: [],
    reason: 'A tool that only reads cannot destroy anything. A host with both hints may trust the wrong one.',
    hint: 'Set readOnlyHint or destructiveHint, not both.',
    run(context) {
      if (!context.facts.tools.some((tool) => isJsonObject(tool['annotations'])))
        context.skip('no tool has annotations');
      return judgeEach(
        context,
        ({ annotations }) =>
          isJsonObject(annotations) &&
          annotations['readOnlyHint'] === true &&
          annotations['destructiveHint'] === true
            ? 'readOnlyHint and destructiveHint are both true'
            : undefined,
        'annotations without contradictions',
      );
    },
  },
  {
    id: 'tools/annotations-are-hints',
    suite: 'tools',
    title: 'Gives annotations the right types',
    level: 'MUST',
    rules: ['TOOL-006'],
    hint: 'The four hints are true or false, and the title is a string.',
    run(context) {
      if (!context.facts.tools.some((tool) => tool['annotations'] !== undefined))
        context.skip('no tool has annotations');
      return judgeEach(
        context,
        ({ annotations }) => {
          if (annotations === undefined) return undefined;
          if (!isJsonObject(annotations)) return `annotations is ${JSON.stringify(annotations)}`;
          for (const name of ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint']) {
            const value = annotations[name];
            if (value !== undefined && typeof value !== 'boolean')
              return `${name} is ${JSON.stringify(value)}`;
          }
          const title = annotations['title'];
          return title === undefined || typeof title === 'string'
            ? undefined
            : `title is ${JSON.stringify(title)}`;
        },
        'hints of type boolean',
      );
    },
  },
];

/** Control characters (except tab and line ends), zero-width, bidirectional and tag characters. */
const HIDDEN = /(?![\t\n\r\u200c\u200d])[\p{Cc}\p{Cf}]/u;

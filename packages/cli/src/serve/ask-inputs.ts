import { plain, surveyServers } from '@isthmus/sdk/internal/config/index.js';
import type { Prompter } from '../terminal/ask-form.js';
import { oneLine } from '../terminal/text.js';

export interface GivenInputs {
  /** By their ids: those of `--input`, and those that were typed. */
  readonly inputs: Readonly<Record<string, string>>;
  /** Values that the files call passwords, for the redactor. */
  readonly secrets: readonly string[];
}

/**
 * What VS Code would ask its user for (`${input:ID}`), as far as servers need it and it has no value yet. Without
 * somebody to ask, what is missing stays missing, and the servers that need it say so.
 */
export async function askInputs(
  files: readonly string[],
  given: Readonly<Record<string, string>>,
  prompter: Prompter | undefined,
  signal: AbortSignal,
): Promise<GivenInputs> {
  const surveyed = await surveyServers(files, { inputs: given, skipMissing: true });
  const declared = new Map(surveyed.flatMap(({ document }) => declarationsIn(plain(document?.root))));
  const inputs = { ...given };
  for (const id of prompter ? missingIn(surveyed.flatMap((file) => file.definitions)) : []) {
    const { description, password = false, options } = declared.get(id) ?? {};
    const choice = options ? ` (${options.map(oneLine).join(', ')})` : '';
    const prompt = `${oneLine(description ?? id)}${choice} [--input ${oneLine(id)}]: `;
    const typed = await prompter!.ask(prompt, signal, { hidden: password });
    // The end of the input: nobody answers the rest either.
    if (typed === undefined) break;
    if (typed !== '') inputs[id] = typed;
  }
  const secrets = [...declared].flatMap(([id, { password }]) => (password && inputs[id] ? [inputs[id]] : []));
  return { inputs, secrets };
}

/** The inputs without a value, once each, in the order of the servers that need them. */
function missingIn(definitions: Awaited<ReturnType<typeof surveyServers>>[number]['definitions']): string[] {
  const needed = definitions.filter(({ settings }) => !settings.disabled);
  const names = needed.flatMap(({ problems }) => problems.map(({ missing = '' }) => missing));
  return [...new Set(names)].flatMap((name) =>
    name.startsWith('input:') ? [name.slice('input:'.length)] : [],
  );
}

interface Declared {
  readonly description?: string | undefined;
  readonly password?: boolean | undefined;
  readonly options?: readonly string[] | undefined;
}

function declarationsIn(root: unknown): [id: string, Declared][] {
  const inputs = (root as { inputs?: unknown } | undefined)?.inputs;
  const list: unknown[] = Array.isArray(inputs) ? inputs : [];
  return list.flatMap((item): [string, Declared][] => {
    const { id, description, password, options } = Object(item) as Record<string, unknown>;
    if (typeof id !== 'string') return [];
    const texts = Array.isArray(options) ? options.filter((each) => typeof each === 'string') : [];
    return [
      [
        id,
        {
          description: typeof description === 'string' && description !== '' ? description : undefined,
          password: password === true,
          options: texts.length > 0 ? texts : undefined,
        },
      ],
    ];
  });
}

import { plain, type SurveyedFile } from '../../config/index.js';

/** What VS Code would ask its user for, as far as these servers refer to it. */
export function inputsOf(files: readonly SurveyedFile[], servers: readonly unknown[]): readonly unknown[] {
  const text = JSON.stringify(servers);
  const inputs = new Map<string, unknown>();
  for (const { document } of files) {
    const root = plain(document?.root);
    for (const input of listOf((root as { inputs?: unknown } | undefined)?.inputs)) {
      const { id } = input;
      if (typeof id !== 'string' || inputs.has(id)) continue;
      if (text.includes(JSON.stringify(`\${input:${id}}`).slice(1, -1))) inputs.set(id, input);
    }
  }
  return [...inputs.values()];
}

function listOf(value: unknown): { readonly id?: unknown }[] {
  const list: unknown[] = Array.isArray(value) ? value : [];
  return list.filter((item) => typeof item === 'object' && item !== null);
}

import type { Prompt, Resource, ResourceTemplate, Tool } from '@isthmus/sdk/internal/wire/model.js';
import { signature } from '../arguments/describe-schema.js';
import { table } from './table.js';
import type { Terminal } from './terminal.js';
import { oneLine } from './text.js';

export function renderTools(tools: readonly Tool[], terminal: Terminal): string {
  return render(
    tools.map((tool) => [tool.name, signature(tool.inputSchema), about(tool)]),
    terminal,
  );
}

export function renderPrompts(prompts: readonly Prompt[], terminal: Terminal): string {
  return render(
    prompts.map((prompt) => {
      const args = Array.isArray(prompt.arguments) ? prompt.arguments : [];
      return [
        prompt.name,
        args.map(({ name, required }) => (required ? name : `[${name}]`)).join(' '),
        about(prompt),
      ];
    }),
    terminal,
  );
}

export function renderResources(resources: readonly Resource[], terminal: Terminal): string {
  return render(
    resources.map((resource) => [resource.uri, resource.mimeType ?? '', about(resource)]),
    terminal,
  );
}

export function renderTemplates(templates: readonly ResourceTemplate[], terminal: Terminal): string {
  return render(
    templates.map((template) => [template.uriTemplate, template.mimeType ?? '', about(template)]),
    terminal,
  );
}

/** Elsewhere than on a terminal an item is one line, for grep; there its second cell stands below the third. */
function render(rows: readonly (readonly string[])[], { width, out }: Terminal): string {
  const cells = rows.map((row) => row.map((cell) => oneLine(String(cell))));
  if (!Number.isFinite(width)) {
    const used = [0, 1, 2].filter((column) => cells.some((row) => row[column] !== ''));
    return table(
      cells.map((row) => used.map((column) => row[column]!)),
      { width },
    );
  }
  const lines = cells.flatMap(([name, detail, text]) => [
    ...(text === '' && detail !== '' ? [] : [[name!, text!]]),
    ...(detail === '' ? [] : [[text === '' ? name! : '', `${DETAIL}${detail}`]]),
  ]);
  return table(lines, {
    width,
    paint: (text, column) =>
      column === 0 ? out.bold(text) : text.startsWith(DETAIL) ? out.cyan(text) : text,
  });
}

const DETAIL = '· ';

function about(item: { title?: string; description?: string; name: string }): string {
  return item.description ?? item.title ?? '';
}

import { cleanText } from '../plain-text.js';

/** HTML that is safe to insert. Everything else is text, and is escaped. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type MarkupPart = Markup | string | number | undefined | readonly Markup[];

/** A template of HTML. Inserted values are escaped, unless they come from such a template. */
export function html(strings: TemplateStringsArray, ...parts: readonly MarkupPart[]): Markup {
  return new Markup(strings.map((text, at) => `${at === 0 ? '' : render(parts[at - 1])}${text}`).join(''));
}

/** The markup if the condition holds; otherwise empty. */
export function when(condition: boolean, markup: () => Markup): Markup {
  return condition ? markup() : html``;
}

function render(part: MarkupPart): string {
  if (part === undefined) return '';
  if (part instanceof Markup) return part.text;
  if (typeof part === 'object') return part.map(({ text }) => text).join('');
  return cleanText(String(part)).replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

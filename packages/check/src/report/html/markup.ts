import { cleanText } from '../plain-text.js';

/** HTML that was made here. Everything else is text, and is escaped. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type MarkupPart = Markup | string | number | undefined | readonly Markup[];

/** A template of HTML: what is put in is text, unless it came from such a template itself. */
export function html(strings: TemplateStringsArray, ...parts: readonly MarkupPart[]): Markup {
  return new Markup(strings.map((text, at) => `${at === 0 ? '' : render(parts[at - 1])}${text}`).join(''));
}

/** `html` where there is something to show, and nothing where there is not. */
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

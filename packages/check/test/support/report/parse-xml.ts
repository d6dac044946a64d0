/** An element of a document: enough of XML to judge a report, and strict about it. */
export interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly Element[];
  /** Of the element itself, without that of its children. */
  readonly text: string;
}

/** Reads a document without DTD, comments and CDATA. Throws where it is not well-formed, and says at which offset. */
export function parseXml(document: string): Element {
  const forbidden = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u.exec(document);
  if (forbidden) throw new Error(`a character that XML cannot carry at ${forbidden.index}`);
  let at = /^<\?xml version="1\.0" encoding="UTF-8"\?>\s*/.exec(document)?.[0].length ?? -1;
  if (at < 0) throw new Error('no declaration');

  const take = (pattern: RegExp): RegExpExecArray | undefined => {
    const sticky = new RegExp(pattern.source, 'y');
    sticky.lastIndex = at;
    const match = sticky.exec(document);
    if (match) at += match[0].length;
    return match ?? undefined;
  };
  const need = (pattern: RegExp): RegExpExecArray => {
    const match = take(pattern);
    if (!match) throw new Error(`expected ${pattern} at ${at}: ${document.slice(at, at + 60)}`);
    return match;
  };
  const element = (): Element => {
    const name = need(/<([A-Za-z][\w.-]*)/)[1]!;
    const attributes: Record<string, string> = {};
    for (let match = take(/\s+([\w:.-]+)="([^"<]*)"/); match; match = take(/\s+([\w:.-]+)="([^"<]*)"/)) {
      if (Object.hasOwn(attributes, match[1]!)) throw new Error(`${match[1]} twice at ${at}`);
      // A parser makes a space of a line end in an attribute.
      attributes[match[1]!] = decode(match[2]!.replace(/[\n\t\r]/g, ' '));
    }
    if (take(/\s*\/>/)) return { name, attributes, children: [], text: '' };
    need(/\s*>/);
    const children: Element[] = [];
    let text = decode(take(/[^<]+/)?.[0] ?? '');
    while (!take(/<\//)) {
      children.push(element());
      text += decode(take(/[^<]+/)?.[0] ?? '');
    }
    need(new RegExp(`${name}\\s*>`));
    return { name, attributes, children, text };
  };

  const root = element();
  need(/\s*/);
  if (at !== document.length) throw new Error(`more than one element at ${at}`);
  return root;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function decode(text: string): string {
  if (text.includes(']]>')) throw new Error(']]> in a text');
  return text.replace(/&(?:#(\d+)|(\w+));|&/g, (whole, number?: string, name?: string) => {
    const decoded = number === undefined ? ENTITIES[name ?? ''] : String.fromCodePoint(Number(number));
    if (decoded === undefined) throw new Error(`${whole} is no entity`);
    return decoded;
  });
}

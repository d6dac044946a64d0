/** RFC 6570, levels 1 to 3 and the modifiers of level 4 for texts. */
export function templateNames(template: string): readonly string[] {
  const names = [...template.matchAll(/\{[+#./;?&]?([^{}]*)\}/g)].flatMap(([, list]) =>
    list!.split(',').map((each) => each.replace(/\*$|:\d+$/, '').trim()),
  );
  return [...new Set(names)].filter((name) => name !== '');
}

/** Names without a value are left out, as the RFC has it. */
export function expandTemplate(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/\{([+#./;?&]?)([^{}]*)\}/g, (_, operator: string, list: string) => {
    const { first, separator, isNamed, ifEmpty, isReserved } = OPERATORS[operator] ?? OPERATORS['']!;
    const parts = list.split(',').flatMap((each) => {
      const [, name = '', prefix] = /^\s*([^*:\s]+)(?:\*|:(\d+))?\s*$/.exec(each) ?? [];
      const value = Object.hasOwn(values, name) ? values[name] : undefined;
      if (value === undefined) return [];
      const cut = prefix === undefined ? value : [...value].slice(0, Number(prefix)).join('');
      const encoded = isReserved ? encodeReserved(cut) : encodeStrict(cut);
      if (!isNamed) return [encoded];
      return [encoded === '' ? `${name}${ifEmpty}` : `${name}=${encoded}`];
    });
    return parts.length === 0 ? '' : first + parts.join(separator);
  });
}

interface Operator {
  readonly first: string;
  readonly separator: string;
  readonly isNamed: boolean;
  readonly ifEmpty: string;
  readonly isReserved: boolean;
}

const plainOperator = { first: '', separator: ',', isNamed: false, ifEmpty: '', isReserved: false };
const OPERATORS: Readonly<Record<string, Operator>> = {
  '': plainOperator,
  '+': { ...plainOperator, isReserved: true },
  '#': { ...plainOperator, first: '#', isReserved: true },
  '.': { ...plainOperator, first: '.', separator: '.' },
  '/': { ...plainOperator, first: '/', separator: '/' },
  ';': { ...plainOperator, first: ';', separator: ';', isNamed: true },
  '?': { ...plainOperator, first: '?', separator: '&', isNamed: true, ifEmpty: '=' },
  '&': { ...plainOperator, first: '&', separator: '&', isNamed: true, ifEmpty: '=' },
};

function encodeStrict(text: string): string {
  return encodeURIComponent(wellFormed(text)).replace(
    /[!'()*]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Reserved characters and percent-encoded triplets stay. */
function encodeReserved(text: string): string {
  return encodeURI(wellFormed(text))
    .replace(/%25([\da-f]{2})/gi, '%$1')
    .replace(/%5B/g, '[')
    .replace(/%5D/g, ']');
}

/** Half of a surrogate pair cannot be encoded. */
function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}

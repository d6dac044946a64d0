/** What one process says of itself, in the text format of Prometheus. */
export interface MetricsOfReplica {
  readonly replica: string;
  readonly text: string;
}

/**
 * One page of several: every sample has the label `replica`, HELP and TYPE come once for each metric, and the samples of a
 * metric stand together. The first page says what a metric is.
 */
export function mergeMetrics(pages: readonly MetricsOfReplica[]): string {
  const families = new Map<string, Family>();
  for (const { replica, text } of pages) addPage(families, `replica="${escapeValue(replica)}"`, text);
  return [...families.values()]
    .map(({ about, samples }) => `${[...about.values(), ...samples].join('\n')}\n`)
    .join('\n');
}

/** A metric with all its samples. */
interface Family {
  /** The lines of HELP and TYPE, by these words. */
  readonly about: Map<string, string>;
  readonly samples: string[];
}

/** No line break is inside a label value, because the format escapes it there. */
function addPage(families: Map<string, Family>, label: string, text: string): void {
  let current = '';
  for (const line of text.split('\n')) {
    const [, word, about] = /^#\s+(HELP|TYPE)\s+(\S+)/.exec(line) ?? [];
    if (word !== undefined && about !== undefined) {
      current = about;
      const lines = familyOf(families, about).about;
      if (!lines.has(word)) lines.set(word, line);
      continue;
    }
    const name = /^[a-zA-Z_:][\w:]*/.exec(line)?.[0];
    if (name === undefined) continue;
    const family = isOf(current, name) ? current : name;
    familyOf(families, family).samples.push(withLabel(line, name, label));
  }
}

/** A histogram and a summary have samples whose names are longer. */
function isOf(family: string, name: string): boolean {
  return name === family || (name.startsWith(`${family}_`) && PARTS.has(name.slice(family.length + 1)));
}

/** The label is the first one, so the others need not be read. */
function withLabel(line: string, name: string, label: string): string {
  const rest = line.slice(name.length).trimStart();
  if (!rest.startsWith('{')) return `${name}{${label}} ${rest}`;
  const others = rest.slice(1).trimStart();
  return `${name}{${label}${others.startsWith('}') ? '' : ','}${others}`;
}

function familyOf(families: Map<string, Family>, name: string): Family {
  const known = families.get(name);
  if (known) return known;
  const family: Family = { about: new Map(), samples: [] };
  families.set(name, family);
  return family;
}

function escapeValue(text: string): string {
  return text.replace(/[\\"\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`));
}

const PARTS: ReadonlySet<string> = new Set(['bucket', 'sum', 'count']);

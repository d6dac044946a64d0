import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Accepted, Baseline } from './baseline.js';

/**
 * Reads the text of a baseline file.
 *
 * @throws IsthmusError `INVALID_OPTION`, which says what is wrong, and where.
 */
export function parseBaseline(text: string, file: string): Baseline {
  const problem = (what: string) => new IsthmusError('INVALID_OPTION', `The baseline ${file} ${what}`);
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (cause) {
    const why = text.trim() === '' ? 'it is empty' : (cause as Error).message;
    throw problem(`is not JSON: ${why}; --update-baseline writes a new one`);
  }
  if (!isJsonObject(value)) throw problem('is not an object with "version" and "accepted"');
  if (value['version'] !== 1)
    throw problem(`has "version" ${shown(value['version'])}; this program reads version 1`);
  const { accepted } = value;
  if (!Array.isArray(accepted)) throw problem(`has "accepted" ${shown(accepted)}; it is a list`);
  const entries = accepted.map((entry: unknown, at) => {
    const read = readEntry(entry);
    if (typeof read === 'string') throw problem(`has a wrong entry: accepted[${at}] ${read}`);
    return read;
  });
  const names = entries.map(({ check, era }) => `${check}${era === undefined ? '' : ` (${era})`}`);
  const twice = names.find((name, at) => names.indexOf(name) < at);
  if (twice !== undefined) throw problem(`names ${twice} twice`);
  return { version: 1, accepted: entries };
}

/** As text, an entry a line: what changes is seen in a diff. */
export function formatBaseline({ version, accepted }: Baseline): string {
  const lines = accepted.map(({ check, era, note }) => `    ${onOneLine({ check, era, note })}`);
  const list = lines.length === 0 ? '[]' : `[\n${lines.join(',\n')}\n  ]`;
  return `{\n  "version": ${version},\n  "accepted": ${list}\n}\n`;
}

/** With room between its members, as formatters write it. */
function onOneLine(value: object): string {
  return JSON.stringify(value, null, 1).replaceAll(/\n */g, ' ');
}

function readEntry(entry: unknown): Accepted | string {
  if (!isJsonObject(entry))
    return `is ${shown(entry)}; an entry is an object such as {"check": "area/what-is-right"}`;
  const { check, era, note, ...rest } = entry;
  const [unknownKey] = Object.keys(rest);
  if (unknownKey !== undefined) return `has ${shown(unknownKey)}; it may have "check", "era" and "note"`;
  if (typeof check !== 'string' || check === '')
    return `has "check" ${shown(check)}; it is the id of a check`;
  if (era !== undefined && era !== 'modern' && era !== 'legacy')
    return `has "era" ${shown(era)}; it is "modern" or "legacy", or left out`;
  if (note !== undefined && typeof note !== 'string') return `has "note" ${shown(note)}; it is a text`;
  return { check, ...(era && { era }), ...(note !== undefined && { note }) };
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'missing';
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}

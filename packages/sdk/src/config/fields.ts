import { type DocumentTable, isTable, kindOf, type Path } from './document.js';
import { type ExpansionFailure, expand, type Resolve } from './expand.js';
import type { ConfigReport } from './report.js';

/** Reads the texts of one server, expanded; what is wrong with them goes to its report. */
export interface Fields {
  readonly path: Path;
  readonly report: ConfigReport;
  /** `undefined` when there is none, or when it was reported. */
  text(value: unknown, path: Path): string | undefined;
  texts(value: unknown, path: Path): readonly string[];
  /** Variables and headers: numbers and booleans count as their text, null as not given. */
  pairs(value: unknown, path: Path): Readonly<Record<string, string>>;
}

export function createFields(path: Path, report: ConfigReport, resolve: Resolve): Fields {
  const fields: Fields = {
    path,
    report,
    text(value, at) {
      if (value === undefined) return undefined;
      if (typeof value !== 'string' || value === '') {
        report.error(at, `must be a string, and is ${kindOf(value)}`);
        return undefined;
      }
      return expanded(value, at);
    },
    texts(value, at) {
      if (value === undefined || value === null) return [];
      if (!Array.isArray(value)) {
        report.error(at, `must be a list of strings, and is ${kindOf(value)}`);
        return [];
      }
      return value.flatMap((item, index) => scalar(item, [...at, index]) ?? []);
    },
    pairs(value, at) {
      if (value === undefined || value === null) return {};
      if (!isTable(value)) {
        report.error(at, `must be an object of strings, and is ${kindOf(value)}`);
        return {};
      }
      return Object.fromEntries(readPairs(value, at));
    },
  };
  return fields;

  function* readPairs(table: DocumentTable, at: Path): Iterable<readonly [string, string]> {
    for (const [name, value] of table) {
      const text = value === null ? undefined : scalar(value, [...at, name]);
      if (text !== undefined) yield [name, text];
    }
  }

  function scalar(value: unknown, at: Path): string | undefined {
    if (typeof value === 'number' || typeof value === 'boolean') return String(value);
    if (typeof value === 'string') return expanded(value, at);
    report.error(at, `must be a string, and is ${kindOf(value)}`);
    return undefined;
  }

  function expanded(value: string, at: Path): string | undefined {
    const result = expand(value, resolve);
    if (result.kind === 'failed') {
      for (const failure of result.failures) reportFailure(report, at, failure);
      return undefined;
    }
    // No system takes one in an argument, a variable or a header.
    if (result.text.includes('\0')) {
      report.error(at, 'cannot hold the character NUL');
      return undefined;
    }
    return result.text;
  }
}

export function reportFailure(
  report: ConfigReport,
  at: Path,
  { reason, hint, missing }: ExpansionFailure,
): void {
  report.error(at, reason, {
    ...(hint !== undefined && { hint }),
    ...(missing !== undefined && { missing }),
  });
}

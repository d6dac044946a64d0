import { basename, sep } from 'node:path';
import { type DocumentTable, isTable, kindOf, type Path } from './documents/document.js';
import type { ConfigReport } from './report.js';

/** Reads and expands the strings of one server. Problems go to its report. */
export interface Fields {
  readonly path: Path;
  readonly report: ConfigReport;
  /** `undefined`: not set, or reported as a problem. */
  text(value: unknown, path: Path): string | undefined;
  texts(value: unknown, path: Path): readonly string[];
  /** For variables and headers. Numbers and booleans become strings, and null counts as not set. */
  pairs(value: unknown, path: Path): Readonly<Record<string, string>>;
}

export function createFields(path: Path, report: ConfigReport, resolve: Resolve): Fields {
  const fields: Fields = {
    path,
    report,
    text(value, at) {
      if (value === undefined) return undefined;
      if (typeof value !== 'string' || value === '') {
        report.error(at, `must be a string, not ${kindOf(value)}`);
        return undefined;
      }
      return expanded(value, at);
    },
    texts(value, at) {
      if (value === undefined || value === null) return [];
      if (!Array.isArray(value)) {
        report.error(at, `must be a list of strings, not ${kindOf(value)}`);
        return [];
      }
      return value.flatMap((item, index) => scalar(item, [...at, index]) ?? []);
    },
    pairs(value, at) {
      if (value === undefined || value === null) return {};
      if (!isTable(value)) {
        report.error(at, `must be an object of strings, not ${kindOf(value)}`);
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
    report.error(at, `must be a string, not ${kindOf(value)}`);
    return undefined;
  }

  function expanded(value: string, at: Path): string | undefined {
    const result = expand(value, resolve);
    if (result.kind === 'failed') {
      for (const failure of result.failures) reportFailure(report, at, failure);
      return undefined;
    }
    // An argument, a variable or a header cannot contain NUL on any system.
    if (result.text.includes('\0')) {
      report.error(at, 'cannot contain the character NUL');
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

/** The content of `${…}`. */
export type Reference =
  | { readonly kind: 'variable'; readonly name: string; readonly fallback: string | undefined }
  | { readonly kind: 'input'; readonly id: string }
  /** A reference that only an editor can resolve, such as `${command:…}`. */
  | { readonly kind: 'foreign'; readonly prefix: string }
  | { readonly kind: 'nested'; readonly name: string };

export type Expanded =
  | { readonly kind: 'text'; readonly text: string }
  /** One for each reference without a value. */
  | { readonly kind: 'failed'; readonly failures: readonly ExpansionFailure[] };

/** Why a reference has no value. Names the reference, never a value. */
export interface ExpansionFailure {
  readonly kind: 'failed';
  readonly reason: string;
  /** What to do about it. */
  readonly hint?: string;
  /** The missing value, if that is the only reason: the name of a variable, or `input:ID`. */
  readonly missing?: string;
}

/** Returns the value of a reference, or why it has none. */
export type Resolve = (
  reference: Reference,
) => { readonly kind: 'text'; readonly text: string } | ExpansionFailure;

/**
 * Replaces `${…}` once: values are not expanded again. `$${` is a literal `${`. All other dollar signs are kept, as the
 * applications that own the files do.
 */
export function expand(text: string, resolve: Resolve): Expanded {
  const failures: ExpansionFailure[] = [];
  const result = text.replace(/\$\$\{|\$\{([^}]*)\}/g, (whole, inside: string | undefined) => {
    if (inside === undefined) return '${';
    const reference = toReference(inside);
    if (!reference) return whole;
    const resolved = resolve(reference);
    if (resolved.kind === 'text') return resolved.text;
    failures.push(resolved);
    return whole;
  });
  return failures.length > 0 ? { kind: 'failed', failures } : { kind: 'text', text: result };
}

/** `undefined`: not a reference, for example the `${list[@]}` of a shell. */
function toReference(inside: string): Reference | undefined {
  if (inside === '/') return { kind: 'variable', name: '/', fallback: undefined };
  const input = /^input:(.+)$/s.exec(inside);
  if (input) return { kind: 'input', id: input[1]! };
  const variable = /^(?:env:([^:]+)|([A-Za-z_]\w*))(?::-(.*))?$/s.exec(inside);
  if (variable) {
    const name = variable[1] ?? variable[2]!;
    const fallback = variable[3];
    return fallback?.includes('${') ? { kind: 'nested', name } : { kind: 'variable', name, fallback };
  }
  // In shell expansions no letter or slash follows the colon: ${name:0:3}, ${name:?text}.
  const foreign = /^([A-Za-z]+):[A-Za-z/~.]/.exec(inside);
  return foreign ? { kind: 'foreign', prefix: foreign[1]! } : undefined;
}

export interface Variables {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly workspaceFolder: string;
  readonly home: string;
  readonly inputs: ReadonlyMap<string, string>;
}

/** Resolves references. The variables that editors predefine override the environment. */
export function resolverOf({ env, workspaceFolder, home, inputs }: Variables): Resolve {
  const predefined = new Map([
    ['workspaceFolder', workspaceFolder],
    ['workspaceFolderBasename', basename(workspaceFolder)],
    ['userHome', home],
    ['pathSeparator', sep],
    ['/', sep],
  ]);
  return (reference) => {
    switch (reference.kind) {
      case 'variable': {
        const { name, fallback } = reference;
        const value = predefined.get(name) ?? lookUp(env, name);
        // As in a shell, `:-` also replaces an empty variable.
        if (fallback !== undefined && (value === undefined || value === '')) return text(fallback);
        return value === undefined ? unset(name) : text(value);
      }
      case 'input': {
        const value = inputs.get(reference.id);
        return value === undefined
          ? failed({
              reason: `\${input:${reference.id}} has no value: an editor would ask for it`,
              hint: `set it with --input ${reference.id}=VALUE, or give the input a default in the file`,
              missing: `input:${reference.id}`,
            })
          : text(value);
      }
      case 'foreign':
        return failed({
          reason: `\${${reference.prefix}:…} is a variable that only its own application can resolve`,
          hint: 'write the value, or the name of a variable, instead',
        });
      case 'nested':
        return failed({ reason: `the default of ${reference.name} cannot contain a \${…}` });
    }
  };
}

function unset(name: string): ExpansionFailure {
  return failed({
    reason: `the variable ${name} is not set`,
    hint: `set ${name} in the environment, or write \${${name}:-DEFAULT}`,
    missing: name,
  });
}

/** An inherited property such as `constructor` is not a string, although the type says so. */
function lookUp(env: Variables['env'], name: string): string | undefined {
  const value: unknown = env[name];
  return typeof value === 'string' ? value : undefined;
}

function text(value: string): ReturnType<Resolve> {
  return { kind: 'text', text: value };
}

function failed(failure: Omit<ExpansionFailure, 'kind'>): ExpansionFailure {
  return { kind: 'failed', ...failure };
}

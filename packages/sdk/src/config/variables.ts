import { basename, sep } from 'node:path';
import type { ExpansionFailure, Resolve } from './expand.js';

export interface Variables {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly workspaceFolder: string;
  readonly home: string;
  readonly inputs: ReadonlyMap<string, string>;
}

/** Looks references up; those that editors predefine come before the environment. */
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
        // As in a shell, `:-` also stands in for a variable that is empty.
        if (fallback !== undefined && (value === undefined || value === '')) return text(fallback);
        return value === undefined ? unset(name) : text(value);
      }
      case 'input': {
        const value = inputs.get(reference.id);
        return value === undefined
          ? failed({
              reason: `\${input:${reference.id}} has no value: an editor would ask for it`,
              hint: `answer it with --input ${reference.id}=VALUE, or give the input a default in the file`,
              missing: `input:${reference.id}`,
            })
          : text(value);
      }
      case 'foreign':
        return failed({
          reason: `\${${reference.prefix}:…} is something that only its own application knows`,
          hint: 'write its value there, or the name of a variable',
        });
      case 'nested':
        return failed({ reason: `the default of ${reference.name} cannot have a \${…} of its own` });
    }
  };
}

function unset(name: string): ExpansionFailure {
  return failed({
    reason: `the variable ${name} is not set`,
    hint: `set ${name} where this runs, or write \${${name}:-DEFAULT}`,
    missing: name,
  });
}

/** The type says string, but an inherited property such as `constructor` is none. */
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

import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { relative, resolve, sep } from 'node:path';
import { knownFiles } from '../../config/index.js';
import { quote } from '../target.js';

/** For somebody whose file of `--config` is not there: those that applications have and that are. */
export function missingConfigHint(
  command: string,
  files: readonly string[],
  exists: (file: string) => boolean = existsSync,
): string | undefined {
  if (files.every((file) => exists(resolve(file)))) return undefined;
  const there = knownFiles().filter(({ path }) => exists(path));
  const [first] = there;
  if (!first) {
    return `No application has a file here either; isthmus ${command} -- COMMAND ARGS… needs none`;
  }
  const all = there.map(({ application, path }) => `${near(path)} (${application})`).join(', ');
  // A shell finds the home only where it is not quoted.
  const file = near(first.path).replace(/[^~].*/s, quote);
  return `There are ${all}: isthmus ${command} --config ${file}`;
}

/** As a person would write it. */
function near(path: string): string {
  const here = relative(process.cwd(), path);
  if (!here.startsWith('..')) return here;
  const home = relative(homedir(), path);
  return home.startsWith('..') ? path : `~${sep}${home}`;
}

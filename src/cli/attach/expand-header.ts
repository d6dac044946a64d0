import { usageError } from '../cli-error.js';

/**
 * Hosts do not expand variables in arguments, and a secret that stands there can be seen by everybody on the machine.
 * So a header may name variables: `Authorization: Bearer ${TOKEN}`.
 */
export function expandHeader(
  text: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): string {
  return text.replace(/\$\{(?:env:)?(\w+)\}/g, (_, name: string) => {
    const value = env[name];
    if (value !== undefined) return value;
    throw usageError(`A --header needs the variable ${name}, which is not set here`);
  });
}

/** `--streamableHttp=x` is `--streamable-http=x`. What is no option stays as it is, and so do values. */
export function toKebab(word: string): string {
  const [, name, value = ''] = /^(--[a-z][A-Za-z0-9-]*)(=.*)?$/s.exec(word) ?? [];
  if (name === undefined) return word;
  return `${name.replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase()}${value}`;
}

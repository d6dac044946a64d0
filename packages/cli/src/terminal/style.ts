/** Colours for one stream, or none at all. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
}

export function createStyle(isTTY: boolean, env: Readonly<Record<string, string | undefined>>): Style {
  const paint =
    (open: number, close: number) =>
    (text: string): string =>
      text === '' ? text : `\u001b[${open}m${text}\u001b[${close}m`;
  const plain = (text: string) => text;
  const maybe = wantsColour(isTTY, env) ? paint : () => plain;
  return {
    bold: maybe(1, 22),
    dim: maybe(2, 22),
    red: maybe(31, 39),
    green: maybe(32, 39),
    yellow: maybe(33, 39),
    cyan: maybe(36, 39),
  };
}

/** https://no-color.org wins over https://force-color.org, which wins over what the stream is. */
function wantsColour(isTTY: boolean, env: Readonly<Record<string, string | undefined>>): boolean {
  if (env['NO_COLOR']) return false;
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined && forced !== '') return forced !== '0' && forced !== 'false';
  return isTTY && env['TERM'] !== 'dumb';
}

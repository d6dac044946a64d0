/** The proxy that the environment names for a URL, and the variable that names it. */
export interface NamedProxy {
  readonly variable: string;
  readonly address: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** As curl has it: the variable of the scheme, else `ALL_PROXY`; lower case wins; `NO_PROXY` lists what goes direct. */
export function proxyOf(url: URL, env: Environment): NamedProxy | undefined {
  // The last is for those who set one variable and mean both schemes, as undici and others read it.
  const names =
    url.protocol === 'https:' ? ['https_proxy', 'all_proxy', 'http_proxy'] : ['http_proxy', 'all_proxy'];
  for (const name of names) {
    for (const variable of [name, name.toUpperCase()]) {
      const address = env[variable];
      if (address) return goesDirect(url, env) ? undefined : { variable, address };
    }
  }
  return undefined;
}

/** For people: without user and password. */
export function proxyLabel({ address, variable }: NamedProxy): string {
  const shown = URL.canParse(address)
    ? `${new URL(address).protocol}//${new URL(address).host}`
    : 'of no URL';
  return `${shown} (${variable})`;
}

function goesDirect(url: URL, env: Environment): boolean {
  const entries = (env['no_proxy'] || env['NO_PROXY'] || '').split(/[,\s]/).filter((entry) => entry !== '');
  const host = url.hostname.toLowerCase();
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return entries.some((entry) => {
    if (entry === '*') return true;
    const colon = /^[^[\]]*:\d+$|\]:\d+$/.test(entry) ? entry.lastIndexOf(':') : entry.length;
    const name = entry
      .slice(0, colon)
      .toLowerCase()
      .replace(/^\*?\./, '');
    const wanted = entry.slice(colon + 1);
    return (wanted === '' || wanted === port) && (host === name || host.endsWith(`.${name}`));
  });
}

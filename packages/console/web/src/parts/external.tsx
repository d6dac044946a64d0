import { plain, Text } from './text.js';

/** An address of a server: in full, with its host in bold. Only http and https can be opened, and only by a click. */
export function Address({ url, open = true }: { readonly url: string; readonly open?: boolean }) {
  let parsed: URL | undefined;
  try {
    parsed = new URL(url);
  } catch {
    parsed = undefined;
  }
  const isWeb = parsed?.protocol === 'https:' || parsed?.protocol === 'http:';
  if (!parsed || !isWeb)
    return (
      <code class="address">
        <Text of={url} max={500} />
      </code>
    );
  const before = `${parsed.protocol}//`;
  const after = parsed.href.slice(parsed.href.indexOf(parsed.host, before.length) + parsed.host.length);
  const credentials = parsed.username === '' ? '' : '…@';
  return (
    <span class="address">
      <code>
        {before + credentials}
        <strong>{plain(parsed.host)}</strong>
        {plain(after, 2000)}
      </code>
      {open && (
        <a class="button" href={parsed.href} target="_blank" rel="noopener noreferrer">
          Open in a new tab
        </a>
      )}
    </span>
  );
}

/** `312 ms`, `4.1 s`, `3 min`, `2 h`, `3 d`. */
export function span(ms: number): string {
  if (ms < 10) return `${Math.max(0, Math.round(ms * 10) / 10)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min`;
  if (ms < 172_800_000) return `${Math.floor(ms / 3_600_000)} h`;
  return `${Math.floor(ms / 86_400_000)} d`;
}

/** Whole seconds and more, for ages that count up once a second. */
export function age(ms: number): string {
  return ms < 1000 ? '0 s' : span(Math.floor(ms / 1000) * 1000).replace('.0 s', ' s');
}

/** `now`, `4 s ago`. */
export function since(ms: number): string {
  return ms < 1000 ? 'now' : `${age(ms)} ago`;
}

export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(bytes < 10_000 ? 1 : 0)} kB`;
  return `${(bytes / 1_000_000).toFixed(bytes < 10_000_000 ? 1 : 0)} MB`;
}

export function count(number: number): string {
  return number.toLocaleString('en');
}

export function plural(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** `12:04:33.118` in the time zone of the reader. */
export function clock(at: number, withMs = true): string {
  const date = new Date(at);
  const two = (value: number) => String(value).padStart(2, '0');
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  return withMs ? `${time}.${String(date.getMilliseconds()).padStart(3, '0')}` : time;
}

export function exact(at: number): string {
  return new Date(at).toISOString();
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

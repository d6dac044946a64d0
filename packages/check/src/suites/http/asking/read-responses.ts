/** One answer on a connection, as it came. */
export interface RawAnswer {
  readonly status: number;
  /** By their names in lower case; of several of one name, the last. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** Cuts what comes on a connection into answers. Interim ones (100) are answers, too. */
export function createResponseReader(onAnswer: (answer: RawAnswer) => void) {
  let held = Buffer.alloc(0);
  const take = (isEnd: boolean): boolean => {
    const end = held.indexOf('\r\n\r\n');
    if (end < 0) return false;
    const [line = '', ...fields] = held.subarray(0, end).toString('latin1').split('\r\n');
    const headers = new Map(fields.map(toField));
    const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(line)?.[1] ?? 0);
    const rest = held.subarray(end + 4);
    const read = readBody(status, headers, rest, isEnd);
    if (!read) return false;
    held = rest.subarray(read.length);
    onAnswer({ status, headers, body: read.body });
    return true;
  };
  return {
    push(chunk: Buffer): void {
      held = Buffer.concat([held, chunk]);
      while (take(false));
    },
    /** The connection has ended: what was open to its end is complete. */
    end(): void {
      take(true);
    },
  };
}

interface Read {
  readonly length: number;
  readonly body: string;
}

function readBody(
  status: number,
  headers: ReadonlyMap<string, string>,
  rest: Buffer,
  isEnd: boolean,
): Read | undefined {
  if (status < 200 || status === 204 || status === 304) return { length: 0, body: '' };
  if (/chunked/i.test(headers.get('transfer-encoding') ?? '')) return readChunks(rest);
  const declared = headers.get('content-length');
  if (declared !== undefined) {
    const length = Number(declared);
    return rest.length < length ? undefined : { length, body: rest.toString('utf8', 0, length) };
  }
  return isEnd ? { length: rest.length, body: rest.toString('utf8') } : undefined;
}

function readChunks(rest: Buffer): Read | undefined {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = rest.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(rest.toString('latin1', at, lineEnd), 16);
    if (Number.isNaN(size)) return undefined;
    const start = lineEnd + 2;
    if (rest.length < start + size + 2) return undefined;
    if (size === 0) return { length: start + 2, body: Buffer.concat(parts).toString('utf8') };
    parts.push(rest.subarray(start, start + size));
    at = start + size + 2;
  }
}

function toField(line: string): readonly [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}

import type { ClientTranscript, Entry } from '../../../src/client/model.js';
import type { Breaking, Json } from './break.js';

type Head = Extract<Entry, { kind: 'head' }>;

/** The parameters of authorization requests, or of token requests, said differently. */
export function asking(kind: 'authorize' | 'token', change: (params: URLSearchParams) => void): Breaking {
  const changed = (text: string) => {
    const params = new URLSearchParams(text);
    change(params);
    return params.toString();
  };
  return (transcript) => {
    const isOf = requestsOf(transcript, kind);
    return {
      ...transcript,
      entries: transcript.entries.map((entry) => {
        if (!isOf(entry)) return entry;
        if (entry.kind === 'in') return { ...entry, text: changed(entry.text) };
        const [path = '', query = ''] = entry.kind === 'head' ? entry.path.split('?') : [];
        return entry.kind === 'head' && query !== ''
          ? { ...entry, path: `${path}?${changed(query)}` }
          : entry;
      }),
    };
  };
}

/** The body of registrations, said differently. */
export function registering(change: (body: Json) => Json): Breaking {
  return (transcript) => {
    const isOf = requestsOf(transcript, 'register');
    return {
      ...transcript,
      entries: transcript.entries.map((entry) =>
        entry.kind === 'in' && isOf(entry)
          ? { ...entry, text: JSON.stringify(change(JSON.parse(entry.text) as Json)) }
          : entry,
      ),
    };
  };
}

/** The paths of all requests of a login, said differently. */
export function turning(change: (path: string) => string): Breaking {
  return (transcript) => ({
    ...transcript,
    entries: transcript.entries.map((entry) =>
      entry.kind === 'head' ? { ...entry, path: change(entry.path) } : entry,
    ),
  });
}

interface More {
  readonly method?: string;
  readonly path: string;
  readonly body?: string;
  readonly answer?: Json;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One more request, at the end. */
export function alsoAsking(
  more: More | ((transcript: ClientTranscript) => More),
  where: 'end' | 'start' = 'end',
): Breaking {
  return (transcript) => {
    const {
      method = 'GET',
      path,
      body,
      answer,
      headers = {},
    } = typeof more === 'function' ? more(transcript) : more;
    const exchange = 9000 + transcript.entries.length;
    const common = { at: transcript.end.at, life: 0, exchange };
    const added: Entry[] = [
      { kind: 'head', ...common, method, path, headers: { host: '127.0.0.1:1', ...headers } },
      ...(body === undefined ? [] : [{ kind: 'in' as const, ...common, text: body }]),
      ...(answer === undefined ? [] : [{ kind: 'out' as const, ...common, text: JSON.stringify(answer) }]),
    ];
    const { entries } = transcript;
    return { ...transcript, entries: where === 'end' ? [...entries, ...added] : [...added, ...entries] };
  };
}

/** A token that the stage has issued in this run. */
export function issued({ entries }: ClientTranscript, kind: 'access' | 'refresh'): string {
  const all = entries.flatMap((entry) =>
    entry.kind === 'out' ? (entry.text.match(new RegExp(`stage-${kind}[\\w-]+`, 'g')) ?? []) : [],
  );
  return all[0]!;
}

function requestsOf({ entries }: ClientTranscript, kind: string): (entry: Entry) => boolean {
  const heads = entries.filter(
    (entry): entry is Head => entry.kind === 'head' && new RegExp(`/${kind}(?:[/?]|$)`).test(entry.path),
  );
  const exchanges = new Set(heads.map(({ exchange }) => exchange));
  return (entry) => 'exchange' in entry && entry.exchange !== undefined && exchanges.has(entry.exchange);
}

import type { ClientTranscript, End, Entry } from '../../../src/client/model.js';

export type Json = Record<string, unknown>;
type In = Extract<Entry, { kind: 'in' }>;
type Head = Extract<Entry, { kind: 'head' }>;

/** Ways to make the record of a bad client out of that of a good one. */
export type Breaking = (transcript: ClientTranscript) => ClientTranscript;

/** What the client says, said differently; `null` drops it, with all that came of it. */
export function saying(change: (message: Json, at: number) => Json | null | undefined): Breaking {
  return (transcript) => {
    const dropped: In[] = [];
    let at = 0;
    const entries = transcript.entries.map((entry) => {
      const message = entry.kind === 'in' ? messageIn(entry.text) : undefined;
      if (entry.kind !== 'in' || !message) return entry;
      const changed = change(message, at++);
      if (changed === null) dropped.push(entry);
      return changed ? { ...entry, text: JSON.stringify(changed) } : entry;
    });
    const isGone = (entry: Entry) =>
      dropped.includes(entry as In) ||
      dropped.some(
        ({ exchange }) => exchange !== undefined && 'exchange' in entry && entry.exchange === exchange,
      );
    return { ...transcript, entries: entries.filter((entry) => !isGone(entry)) };
  };
}

/** Undefined for the forms of a login. */
function messageIn(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** The same for the messages of one method. */
export function sayingOf(method: string, change: (message: Json) => Json | null): Breaking {
  return saying((message) => (message['method'] === method ? change(message) : undefined));
}

export function paramsOf(method: string, change: (params: Json) => Json): Breaking {
  return sayingOf(method, (message) => ({ ...message, params: change((message['params'] ?? {}) as Json) }));
}

export function metaOf(change: (meta: Json) => Json): Breaking {
  return saying((message) => {
    const params = message['params'] as Json | undefined;
    const meta = params?.['_meta'] as Json | undefined;
    return meta && { ...message, params: { ...params, _meta: change(meta) } };
  });
}

export function never(method: string): Breaking {
  return sayingOf(method, () => null);
}

/** Headers of every request, said differently; an absent one is `undefined`. */
export function heading(change: (head: Head) => Record<string, string | undefined>): Breaking {
  return (transcript) => ({
    ...transcript,
    entries: transcript.entries.map((entry) => {
      if (entry.kind !== 'head') return entry;
      const headers = Object.entries({ ...entry.headers, ...change(entry) });
      return {
        ...entry,
        headers: Object.fromEntries(
          headers.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
        ),
      };
    }),
  });
}

export function withHeader(name: string, value: string | undefined): Breaking {
  return heading(() => ({ [name]: value }));
}

export function without(isGone: (entry: Entry) => boolean): Breaking {
  return (transcript) => ({ ...transcript, entries: transcript.entries.filter((entry) => !isGone(entry)) });
}

export function ending(end: Partial<End>): Breaking {
  return (transcript) => ({ ...transcript, end: { ...transcript.end, ...end } });
}

/** Something more, right behind (or before) the first message of a method. */
export function adding(
  method: string,
  more: (said: In, head: Head | undefined) => readonly Entry[],
  where: 'before' | 'after' | 'answered' = 'after',
): Breaking {
  return (transcript) => {
    const { entries } = transcript;
    const at = entries.findIndex((entry) => entry.kind === 'in' && entry.text.includes(`"${method}"`));
    const said = entries[at] as In;
    const head = entries.find(
      (entry): entry is Head => entry.kind === 'head' && entry.exchange === said.exchange,
    );
    const answered = entries.findIndex(
      (entry, index) => index > at && entry.kind === 'out' && entry.exchange === said.exchange,
    );
    const place = where === 'before' ? at : where === 'after' ? at + 1 : answered + 1;
    return {
      ...transcript,
      entries: [...entries.slice(0, place), ...more(said, head), ...entries.slice(place)],
    };
  };
}

/** A message of the client at the same time and place as another. */
export function like(said: In, message: unknown): In {
  const { exchange: _, ...rest } = said;
  return { ...rest, text: typeof message === 'string' ? message : JSON.stringify(message) };
}

export function allOf(...breakings: readonly Breaking[]): Breaking {
  return (transcript) => breakings.reduce((each, breaking) => breaking(each), transcript);
}

/** It never gets as far as the tool, and says so. */
export const givesIn: Breaking = allOf(never('tools/call'), ending({ code: 1, stderr: 'it did not work' }));
/** It believes that all is well. */
export const looksFine: Breaking = ending({ code: 0, late: false });
export const hangs: Breaking = ending({ code: null, late: true });
/** Its call was answered, and it did not understand. */
export const fails: Breaking = ending({ code: 1, stderr: 'what was that?' });

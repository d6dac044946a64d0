import { isDeepStrictEqual } from 'node:util';
import { type RawClient, streamLink } from '../../../../test/support/raw-client.js';
import { type ServeOptions, serve } from '../../src/index.js';
import { createTranscriptServer } from './server.js';

/**
 * Plays a transcript against the server of `server.ts`, over byte streams, and says what differed.
 * A transcript is plain text, one step per line; a line that begins with a space continues the one before.
 *
 *     # a comment: why, and which rules
 *     @ {"eras":["modern"]}        options of serve(), before the first step
 *     let $me = {"name":"x"}       from here on `$me` stands for this text
 *     > {"jsonrpc":"2.0", …}       the client sends this line, word for word; it need not be JSON
 *     < {"jsonrpc":"2.0", …}       the server's next message is exactly this, whatever the order of members
 *     (nothing)                    the server has sent nothing more, and will not without a cause
 *     !end                         the client closes its side
 *     (closed)                     the server has closed the connection, with nothing more to say
 *
 * In expected messages "*" stands for any string, "*x" for any string that `$x` then stands for, and the
 * member "…" allows further members beside it. After the last step nothing may be left unread.
 */
export async function runTranscript(text: string): Promise<void> {
  const { options, steps } = parseTranscript(text);
  const link = streamLink();
  const served = await serve(createTranscriptServer(), link, { graceMs: 0, ...options });
  const client = link.connect();
  const names = new Map<string, string>();
  try {
    for (const step of [...steps, { kind: 'nothing', line: 'the end' } as const]) {
      try {
        await play(step, client, names);
      } catch (error) {
        throw new Error(`line ${step.line}: ${(error as Error).message}`);
      }
    }
  } finally {
    client.vanish();
    await served.close();
  }
}

type Step =
  | { readonly kind: 'send' | 'expect' | 'let'; readonly line: number; readonly text: string }
  | { readonly kind: 'nothing' | 'end' | 'closed'; readonly line: number | string };

async function play(step: Step, client: RawClient, names: Map<string, string>): Promise<void> {
  switch (step.kind) {
    case 'let': {
      const [, name, value] = /^(\$\w+)\s*=\s*(.*)$/s.exec(step.text) ?? [];
      if (!name) throw new Error(`not a definition: ${step.text}`);
      names.set(name, replaceNames(value!, names));
      return;
    }
    case 'send':
      return client.sendLine(replaceNames(step.text, names));
    case 'expect': {
      const expected: unknown = JSON.parse(replaceNames(step.text, names));
      const actual = await client.next();
      const difference = compare(expected, actual, '', names);
      if (difference !== undefined)
        throw new Error(`${difference}\n  the server sent ${JSON.stringify(actual)}`);
      return;
    }
    case 'nothing': {
      const unexpected = await client.settle();
      if (unexpected.length > 0)
        throw new Error(`expected nothing, the server sent ${JSON.stringify(unexpected)}`);
      return;
    }
    case 'end':
      return client.end();
    case 'closed':
      return client.closed;
  }
}

function parseTranscript(text: string): { options: ServeOptions; steps: Step[] } {
  let options: ServeOptions = {};
  const steps: Step[] = [];
  for (const [index, line] of joinContinued(text.split('\n'))) {
    const rest = line.slice(2);
    if (line === '' || line.startsWith('#')) continue;
    else if (line.startsWith('@ ')) options = JSON.parse(rest) as ServeOptions;
    else if (line.startsWith('> ')) steps.push({ kind: 'send', line: index, text: rest });
    else if (line.startsWith('< ')) steps.push({ kind: 'expect', line: index, text: rest });
    else if (line.startsWith('let ')) steps.push({ kind: 'let', line: index, text: line.slice(4) });
    else if (line === '(nothing)') steps.push({ kind: 'nothing', line: index });
    else if (line === '!end') steps.push({ kind: 'end', line: index });
    else if (line === '(closed)') steps.push({ kind: 'closed', line: index });
    else throw new Error(`line ${index} of the transcript is not a step: ${line}`);
  }
  return { options, steps };
}

function joinContinued(lines: readonly string[]): [number, string][] {
  const joined: [number, string][] = [];
  for (const [index, line] of lines.entries()) {
    if (/^\s+\S/.test(line)) joined[joined.length - 1]![1] += ` ${line.trim()}`;
    else joined.push([index + 1, line.trimEnd()]);
  }
  return joined;
}

/** Longest name first, so that `$meta2` is not taken for `$meta`. */
function replaceNames(text: string, names: ReadonlyMap<string, string>): string {
  const ordered = [...names].sort(([a], [b]) => b.length - a.length);
  return ordered.reduce((replaced, [name, value]) => replaced.replaceAll(name, () => value), text);
}

/** Says where `actual` differs from `expected`, or nothing. */
function compare(
  expected: unknown,
  actual: unknown,
  path: string,
  names: Map<string, string>,
): string | undefined {
  if (typeof expected === 'string' && expected.startsWith('*')) {
    if (typeof actual !== 'string' || actual === '') return `${path || 'the message'} is not a string`;
    if (expected.length > 1) names.set(`$${expected.slice(1)}`, actual);
    return undefined;
  }
  if (Array.isArray(expected) && Array.isArray(actual) && expected.length === actual.length) {
    return first(expected.map((item, index) => compare(item, actual[index], `${path}[${index}]`, names)));
  }
  if (isObject(expected) && isObject(actual)) {
    const { '…': more, ...wanted } = expected;
    const surplus = Object.keys(actual).filter((key) => !Object.hasOwn(wanted, key));
    if (more === undefined && surplus.length > 0)
      return `${path || 'the message'} has a surplus member ${surplus}`;
    return first(
      Object.entries(wanted).map(([key, value]) =>
        Object.hasOwn(actual, key)
          ? compare(value, actual[key], `${path}.${key}`, names)
          : `${path}.${key} is missing`,
      ),
    );
  }
  if (isDeepStrictEqual(expected, actual)) return undefined;
  return `${path || 'the message'} should be ${JSON.stringify(expected)}, is ${JSON.stringify(actual)}`;
}

function first(differences: readonly (string | undefined)[]): string | undefined {
  return differences.find((difference) => difference !== undefined);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

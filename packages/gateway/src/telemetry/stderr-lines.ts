/**
 * Puts lines together from what a process writes, piece by piece: a secret that is cut in two would be recognised
 * in neither part.
 */
export class StderrLines {
  readonly #open = new Map<string, string>();

  /** The lines that are complete with this piece. */
  add(source: string, text: string): string[] {
    const pieces = `${this.#open.get(source) ?? ''}${text}`.split(/\r\n|\n|\r(?!$)/);
    let rest = pieces.pop() ?? '';
    if (rest.length > LONGEST) {
      pieces.push(rest);
      rest = '';
    }
    this.#open.delete(source);
    if (rest !== '') this.#open.set(source, rest);
    if (this.#open.size > MOST) this.#open.delete(this.#open.keys().next().value!);
    return pieces.flatMap(tidy);
  }

  /** It writes no more: what it was in the middle of. */
  end(source: string): string[] {
    const rest = this.#open.get(source) ?? '';
    this.#open.delete(source);
    return tidy(rest);
  }
}

function tidy(line: string): string[] {
  const trimmed = line.trimEnd();
  if (trimmed === '') return [];
  return [trimmed.length > LONGEST ? `${cut(trimmed)}…` : trimmed];
}

/** Between words if that is possible: half a secret is not recognised. */
function cut(line: string): string {
  const text = line.slice(0, LONGEST);
  const at = text.search(/\s\S*$/);
  return at > LONGEST / 2 ? text.slice(0, at) : text;
}

const LONGEST = 8 * 1024;
/** Processes that were in the middle of a line at the same time. */
const MOST = 1000;

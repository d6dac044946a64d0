/** Texts that occur in many rows, as numbers. 0 is the empty text. */
export class NameTable {
  readonly #numbers = new Map<string, number>([['', 0]]);
  readonly #texts: string[] = [''];
  #gists = 0;

  /** A server can invent names without end: beyond the bound they share one number. */
  numberOf(text: string | undefined): number {
    if (text === undefined || text === '') return 0;
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const short = text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
    if (short !== text) return this.numberOf(short);
    if (this.#texts.length - this.#gists > MAX_NAMES)
      return text === OTHERS ? this.#put(OTHERS) : this.numberOf(OTHERS);
    return this.#put(text);
  }

  /** The beginning of a text that rarely comes again. These have a bound of their own, and leave room for names. */
  gistOf(text: string): number {
    const gist = /^.{0,120}/.exec(text.trimStart())![0].trimEnd();
    const known = this.#numbers.get(gist);
    if (known !== undefined) return known;
    if (this.#gists >= MAX_GISTS) return 0;
    this.#gists += 1;
    return this.#put(gist);
  }

  textOf(number: number): string {
    return this.#texts[number] ?? '';
  }

  #put(text: string): number {
    const number = this.#texts.length;
    this.#numbers.set(text, number);
    this.#texts.push(text);
    return number;
  }
}

const MAX_NAMES = 10_000;
const MAX_GISTS = 5000;
const MAX_LENGTH = 200;
const OTHERS = '(many other names)';

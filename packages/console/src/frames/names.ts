/** Texts that occur in many rows, as numbers. 0 is the empty text. */
export class NameTable {
  readonly #numbers = new Map<string, number>([['', 0]]);
  readonly #texts: string[] = [''];

  /** A server can invent names without end: beyond the bound they share one number. */
  numberOf(text: string | undefined): number {
    if (text === undefined || text === '') return 0;
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const short = text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
    if (short !== text) return this.numberOf(short);
    if (this.#texts.length > MAX_NAMES) return this.numberOf(OTHERS);
    const number = this.#texts.length;
    this.#numbers.set(text, number);
    this.#texts.push(text);
    return number;
  }

  textOf(number: number): string {
    return this.#texts[number] ?? '';
  }
}

const MAX_NAMES = 10_000;
const MAX_LENGTH = 200;
const OTHERS = '(many other names)';

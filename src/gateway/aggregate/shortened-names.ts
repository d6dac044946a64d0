import { ByPrincipal } from '../../exchange/by-principal.js';
import type { Named } from './names.js';

/** Names that do not say by themselves whose they are: learnt from the lists of each principal, and used for it alone. */
export class ShortenedNames {
  readonly #known = new ByPrincipal(() => new Map<string, Named>());

  get(name: string, principal: string | undefined): Named | undefined {
    return this.#known.get(principal)?.get(name);
  }

  learn(shortened: string, named: Named, principal: string | undefined): void {
    const known = this.#known.of(principal);
    known.delete(shortened);
    known.set(shortened, named);
    if (known.size > MAX_KNOWN) known.delete(known.keys().next().value!);
  }
}

/** Of one principal; the list is asked for again where one is missing. */
const MAX_KNOWN = 2000;

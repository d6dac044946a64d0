/** What stands between `${` and `}`. */
export type Reference =
  | { readonly kind: 'variable'; readonly name: string; readonly fallback: string | undefined }
  | { readonly kind: 'input'; readonly id: string }
  /** Something that an editor would know, such as `${command:…}`. */
  | { readonly kind: 'foreign'; readonly prefix: string }
  | { readonly kind: 'nested'; readonly name: string };

export type Expanded =
  | { readonly kind: 'text'; readonly text: string }
  /** One for each reference without a value. */
  | { readonly kind: 'failed'; readonly failures: readonly ExpansionFailure[] };

/** Why a reference has no value. Names the reference, never a value. */
export interface ExpansionFailure {
  readonly kind: 'failed';
  readonly reason: string;
  /** What to do about it. */
  readonly hint?: string;
  /** What would have to be there, if it is only that: the name of a variable, `input:ID`. */
  readonly missing?: string;
}

/** Gives the value of a reference, or the reason why it has none. */
export type Resolve = (
  reference: Reference,
) => { readonly kind: 'text'; readonly text: string } | ExpansionFailure;

/**
 * Replaces `${…}`, once: what comes out of a variable is not looked at again. `$${` is a plain `${`. Anything
 * else with a dollar is left as it is, since the files belong to applications that do so too.
 */
export function expand(text: string, resolve: Resolve): Expanded {
  const failures: ExpansionFailure[] = [];
  const result = text.replace(/\$\$\{|\$\{([^}]*)\}/g, (whole, inside: string | undefined) => {
    if (inside === undefined) return '${';
    const reference = toReference(inside);
    if (!reference) return whole;
    const resolved = resolve(reference);
    if (resolved.kind === 'text') return resolved.text;
    failures.push(resolved);
    return whole;
  });
  return failures.length > 0 ? { kind: 'failed', failures } : { kind: 'text', text: result };
}

/** `undefined`: no reference of ours, for example the `${list[@]}` of a shell. */
function toReference(inside: string): Reference | undefined {
  if (inside === '/') return { kind: 'variable', name: '/', fallback: undefined };
  const input = /^input:(.+)$/s.exec(inside);
  if (input) return { kind: 'input', id: input[1]! };
  const variable = /^(?:env:([^:]+)|([A-Za-z_]\w*))(?::-(.*))?$/s.exec(inside);
  if (variable) {
    const name = variable[1] ?? variable[2]!;
    const fallback = variable[3];
    return fallback?.includes('${') ? { kind: 'nested', name } : { kind: 'variable', name, fallback };
  }
  // Behind the colon of a shell's own expansions there is no letter and no slash: ${name:0:3}, ${name:?text}.
  const foreign = /^([A-Za-z]+):[A-Za-z/~.]/.exec(inside);
  return foreign ? { kind: 'foreign', prefix: foreign[1]! } : undefined;
}

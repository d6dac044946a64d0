/** What stands between `${` and `}`. */
export type Reference =
  | { readonly kind: 'variable'; readonly name: string; readonly fallback: string | undefined }
  | { readonly kind: 'input'; readonly id: string }
  /** Something that an editor would know, such as `${command:…}`. */
  | { readonly kind: 'foreign'; readonly prefix: string }
  | { readonly kind: 'nested'; readonly name: string };

export type Expanded =
  | { readonly kind: 'text'; readonly text: string }
  /** The reason names the reference, never a value; the hint says what to do about it. */
  | { readonly kind: 'failed'; readonly reason: string; readonly hint?: string };

/** Gives the value of a reference, or the reason why it has none. */
export type Resolve = (reference: Reference) => Expanded;

/**
 * Replaces `${…}`, once: what comes out of a variable is not looked at again. `$${` is a plain `${`. Anything
 * else with a dollar is left as it is, since the files belong to applications that do so too.
 */
export function expand(text: string, resolve: Resolve): Expanded {
  let failed: Expanded | undefined;
  const result = text.replace(/\$\$\{|\$\{([^}]*)\}/g, (whole, inside: string | undefined) => {
    if (inside === undefined) return '${';
    const reference = toReference(inside);
    if (!reference) return whole;
    const expanded = resolve(reference);
    if (expanded.kind === 'text') return expanded.text;
    failed ??= expanded;
    return whole;
  });
  return failed ?? { kind: 'text', text: result };
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

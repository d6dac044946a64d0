/** A spelling of an earlier version, and what it is now. */
interface OldSpelling {
  readonly commands: ReadonlySet<string>;
  readonly old: RegExp;
  readonly now: string;
  /** The old value of the option `old`, where only the value has changed. */
  readonly value?: { readonly old: string; readonly now: string };
}

const CLIENTS = ['probe', 'list', 'call', 'read', 'prompt', 'complete', 'listen', 'bench'];

const SPELLINGS: readonly OldSpelling[] = [
  { commands: new Set([...CLIENTS, 'attach']), old: /^(--mode|-m)(?==|$)/, now: '--era' },
  { commands: new Set(['serve']), old: /^--upstream-protocol(?==|$)/, now: '--era' },
  { commands: new Set(['bench']), old: /^-n(?==|$)/, now: '-j' },
  {
    commands: new Set(['serve']),
    old: /^--processes(?==|$)/,
    now: '--processes',
    value: { old: 'per-client', now: 'per-conversation' },
  },
];

/** The arguments with the spellings of this version. `note` gets a sentence for each old one. */
export function withNewSpellings(
  command: string,
  args: readonly string[],
  note: (text: string) => void,
): readonly string[] {
  const spellings = SPELLINGS.filter(({ commands }) => commands.has(command));
  if (spellings.length === 0) return args;
  const fresh = [...args];
  for (const [at, arg] of args.entries()) {
    for (const { old, now, value } of spellings) {
      const name = old.exec(arg)?.[0];
      if (name === undefined) continue;
      if (!value) {
        fresh[at] = now + arg.slice(name.length);
        note(`${name} is now ${now}`);
      } else if (args[at + 1] === value.old || arg === `${name}=${value.old}`) {
        const isInline = arg !== name;
        fresh[isInline ? at : at + 1] = isInline ? `${name}=${value.now}` : value.now;
        note(`${name} ${value.old} is now ${name} ${value.now}`);
      }
    }
  }
  return fresh;
}

export interface KnownMode {
  readonly name: string;
  readonly subjects?: readonly string[];
  readonly takesEra: boolean;
}

export type BenchOptions =
  | {
      readonly kind: 'run' | 'goals';
      readonly modes: string[];
      readonly only: string[] | undefined;
      readonly eras: ('modern' | 'legacy')[];
      readonly upstreams: ('modern' | 'legacy')[];
      readonly quick: boolean;
      readonly check: boolean;
      readonly format: 'text' | 'json' | 'markdown';
    }
  | { readonly kind: 'help' }
  | { readonly kind: 'wrong'; readonly why: string };

export function readOptions(args: readonly string[], known: readonly KnownMode[]): BenchOptions;

/** Variables of a matched URI: a string, or a list if the template explodes the variable (`{path*}`). */
export type TemplateVariables = Record<string, string | string[]>;

/**
 * The variables of a template that is written as a literal: `VariablesOf<'notes://{id}{?tags*}'>` is
 * `{ id: string; tags?: string[] }`. A variable that a URI may leave out is optional.
 */
export type VariablesOf<T extends string> = string extends T ? TemplateVariables : Flat<VariablesIn<T>>;

/** One object type instead of several, so that editors show its members. */
type Flat<T> = { [K in keyof T]: T[K] };

type VariablesIn<T extends string> = T extends `${string}{${infer E}}${infer Rest}`
  ? VariablesOfExpression<E> & VariablesIn<Rest>
  : unknown;

type VariablesOfExpression<E extends string> = E extends `${'.' | '/' | ';' | '?' | '&' | '#'}${infer List}`
  ? Partial<VariablesOfList<List>>
  : E extends `+${infer List}`
    ? FirstOfList<List>
    : FirstOfList<E>;

/** Without an operator the first variable always has a value, though it may be empty. */
type FirstOfList<L extends string> = L extends `${infer First},${infer Rest}`
  ? VariableOf<First> & Partial<VariablesOfList<Rest>>
  : VariableOf<L>;

type VariablesOfList<L extends string> = L extends `${infer First},${infer Rest}`
  ? VariableOf<First> & VariablesOfList<Rest>
  : VariableOf<L>;

type VariableOf<V extends string> = V extends `${infer Name}*`
  ? { [K in Name]: string[] }
  : V extends `${infer Name}:${string}`
    ? { [K in Name]: string }
    : { [K in V]: string };

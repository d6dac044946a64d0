import type { ToolLists } from './server-spec.js';

/** Whether the lists let a tool through, by its name as the server has it. */
export function allowsTool({ allow, deny = [] }: ToolLists, tool: string): boolean {
  if (deny.some((pattern) => matches(pattern, tool))) return false;
  return allow === undefined || allow.some((pattern) => matches(pattern, tool));
}

/** `*` is any number of any characters. Parts are looked for from left to right, so a long name costs no more than a short one. */
function matches(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  if (rest.length === 0) return pattern === name;
  const last = rest.pop()!;
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length)
    return false;
  let at = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= name.length - last.length;
}

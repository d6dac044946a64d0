/** A schema as a server sent it. It may be anything. */
export type FormSchema = Readonly<Record<string, unknown>>;

/** Follows `$ref` and merges `allOf`, one level. `false` and what is not a schema become one that says nothing. */
export function resolveSchema(root: FormSchema, given: unknown, depth = 0): FormSchema {
  if (!isRecord(given) || depth > MAX_DEPTH) return {};
  let schema: FormSchema = given;
  const { $ref, ...rest } = schema;
  if (typeof $ref === 'string') {
    const target = lookUp(root, $ref);
    schema = target === undefined ? rest : merge(resolveSchema(root, target, depth + 1), rest);
  }
  const { allOf, ...own } = schema;
  if (!Array.isArray(allOf)) return schema;
  return allOf
    .slice(0, 100)
    .reduce<FormSchema>((whole, part) => merge(whole, resolveSchema(root, part, depth + 1)), own);
}

/** Both hold. Properties that both have become `allOf`. */
export function merge(one: FormSchema, other: FormSchema): FormSchema {
  const properties = mergeProperties(one['properties'], other['properties']);
  const required = [...asNames(one['required']), ...asNames(other['required'])];
  return {
    ...one,
    ...other,
    ...(properties && { properties }),
    ...(required.length > 0 && { required: [...new Set(required)] }),
  };
}

function mergeProperties(one: unknown, other: unknown): FormSchema | undefined {
  if (!isRecord(one)) return isRecord(other) ? other : undefined;
  if (!isRecord(other)) return one;
  const merged: Record<string, unknown> = Object.assign(Object.create(null), one);
  for (const [name, schema] of Object.entries(other))
    merged[name] = Object.hasOwn(one, name) ? { allOf: [one[name], schema] } : schema;
  return merged;
}

/** `#`, `#/a/b` and `#anchor`. Other documents are not fetched. */
function lookUp(root: FormSchema, ref: string): unknown {
  if (ref === '#') return root;
  if (ref.startsWith('#/')) {
    let found: unknown = root;
    for (const part of decode(ref.slice(2)).split('/')) {
      const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
      if (Array.isArray(found)) found = found[Number(name)];
      else if (isRecord(found) && Object.hasOwn(found, name)) found = found[name];
      else return undefined;
    }
    return found;
  }
  return ref.startsWith('#') ? findAnchor(root, ref.slice(1)) : undefined;
}

function findAnchor(root: FormSchema, anchor: string): unknown {
  const waiting: unknown[] = [root];
  for (let looked = 0; waiting.length > 0 && looked < MAX_LOOKED; looked += 1) {
    const each = waiting.shift();
    if (isRecord(each) && (each['$anchor'] === anchor || each['$dynamicAnchor'] === anchor)) return each;
    if (isRecord(each) || Array.isArray(each)) waiting.push(...Object.values(each));
  }
  return undefined;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function isRecord(value: unknown): value is FormSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function asNames(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : [];
}

export function textOf(schema: FormSchema, name: string): string | undefined {
  const value = schema[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function numberOf(schema: FormSchema, name: string): number | undefined {
  const value = schema[name];
  return typeof value === 'number' ? value : undefined;
}

const MAX_DEPTH = 32;
const MAX_LOOKED = 10_000;

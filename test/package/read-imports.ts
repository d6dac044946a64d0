import { parseAst } from 'vitest/node';

/** One place where a source file names another module. */
export interface SourceImport {
  /** Path of the importing file below src/, with forward slashes. */
  readonly file: string;
  readonly line: number;
  readonly specifier: string;
}

/**
 * Every module that a TypeScript file names, in the order of the text: `import`, `import type`,
 * `export … from`, `import()` as a value or as a type, `import x = require()`, `require()` and
 * `process.getBuiltinModule()`. A specifier that is computed at run time cannot be read and is left out.
 */
export function readImports(file: string, source: string): SourceImport[] {
  const found: { start: number; specifier: string }[] = [];
  visit(parseAst(source, { lang: 'ts' }), (node) => {
    const literal = namedModule(node);
    const specifier = textOf(literal);
    if (specifier !== undefined) found.push({ start: Number(node['start']), specifier });
  });
  return found
    .sort((a, b) => a.start - b.start)
    .map(({ start, specifier }) => ({ file, line: source.slice(0, start).split('\n').length, specifier }));
}

type Node = Readonly<Record<string, unknown>>;

function namedModule(node: Node): unknown {
  switch (node['type']) {
    case 'ImportDeclaration':
    case 'ExportAllDeclaration':
    case 'ExportNamedDeclaration':
    case 'ImportExpression':
    case 'TSImportType':
      return node['source'];
    case 'TSExternalModuleReference':
      return node['expression'];
    case 'CallExpression':
      return isLoader(node['callee']) ? (node['arguments'] as unknown[])[0] : undefined;
    default:
      return undefined;
  }
}

function isLoader(callee: unknown): boolean {
  if (!isNode(callee)) return false;
  if (callee['type'] === 'Identifier') return callee['name'] === 'require';
  if (callee['type'] !== 'MemberExpression' || !isNode(callee['property'])) return false;
  return callee['property']['name'] === 'getBuiltinModule';
}

/** The text of a string, or of a template without holes. */
function textOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  if (node['type'] === 'Literal' && typeof node['value'] === 'string') return node['value'];
  if (node['type'] !== 'TemplateLiteral') return undefined;
  const quasis = node['quasis'] as { value: { cooked: string } }[];
  return quasis.length === 1 ? quasis[0]?.value.cooked : undefined;
}

function visit(value: unknown, see: (node: Node) => void): void {
  if (Array.isArray(value)) {
    for (const item of value) visit(item, see);
  } else if (isNode(value)) {
    if (typeof value['type'] === 'string') see(value);
    for (const child of Object.values(value)) visit(child, see);
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null;
}

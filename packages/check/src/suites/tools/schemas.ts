import { readHeaderParams } from '@isthmus/sdk/internal/era/modern/headers.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Check } from '../../model.js';
import { judgeEach } from './each-tool.js';
import { dialectName, problemOfSchema, problemOfValue } from './validator.js';

/** The schemas of tools, as they stand in the list. */
export const toolSchemaChecks: readonly Check[] = [
  {
    id: 'tools/input-schema-is-object',
    suite: 'tools',
    title: 'Gives every tool an inputSchema whose root has the type object',
    level: 'MUST',
    rules: ['TOOL-006'],
    hint: 'A tool without arguments has `{ "type": "object", "properties": {} }`.',
    run: (context) =>
      judgeEach(
        context,
        ({ inputSchema }) => {
          if (!isJsonObject(inputSchema)) return `inputSchema is ${JSON.stringify(inputSchema) ?? 'missing'}`;
          const type = inputSchema['type'];
          return type === 'object'
            ? undefined
            : `the type of inputSchema is ${JSON.stringify(type) ?? 'missing'}`;
        },
        'an inputSchema of type object',
      ),
  },
  {
    id: 'tools/schemas-valid',
    suite: 'tools',
    title: 'Publishes schemas that are valid in their dialect',
    level: 'MUST',
    rules: ['JSCH-004', 'JSCH-001'],
    hint: 'Validate the schema with its meta-schema; without $schema it is taken for JSON Schema 2020-12.',
    run: (context) =>
      judgeEach(
        context,
        async (tool) => {
          for (const [member, schema] of schemasOf(tool)) {
            const problem = await problemOfSchema(schema);
            if (problem !== undefined) return `${member}: ${problem}`;
          }
          return undefined;
        },
        'valid JSON Schema',
      ),
  },
  {
    id: 'tools/dialect-common',
    suite: 'tools',
    title: 'Writes its schemas in JSON Schema 2020-12, or names draft-07',
    level: 'SHOULD',
    rules: [],
    reason: 'Clients have to support 2020-12 only; a tool in another dialect is refused by many of them.',
    hint: 'Leave $schema out and use 2020-12.',
    run: (context) =>
      judgeEach(
        context,
        (tool) => {
          for (const [member, schema] of schemasOf(tool)) {
            if (dialectName(schema) === undefined)
              return `${member} names ${JSON.stringify((schema as JsonObject)['$schema'])}`;
          }
          return undefined;
        },
        'a dialect that every client knows',
      ),
  },
  {
    id: 'tools/no-references-to-the-network',
    suite: 'tools',
    title: 'Publishes schemas that refer to nothing outside of themselves',
    level: 'SHOULD',
    rules: ['JSCH-006', 'JSCH-009'],
    hint: 'Put what is referred to under $defs: clients must not fetch it, and refuse the tool.',
    run: (context) =>
      judgeEach(
        context,
        (tool) => {
          for (const [member, schema] of schemasOf(tool)) {
            const foreign = findIn(schema, (node) =>
              typeof node['$ref'] === 'string' && /^[a-z][a-z0-9+.-]*:\/\//i.test(node['$ref'])
                ? node['$ref']
                : undefined,
            );
            if (foreign !== undefined) return `${member} refers to ${foreign}`;
          }
          return undefined;
        },
        'references within the schema',
      ),
  },
  {
    id: 'tools/output-schema-is-object',
    suite: 'tools',
    title: 'Gives legacy clients only output schemas with an object at the root',
    level: 'MUST',
    rules: ['TOOL-008'],
    era: 'legacy',
    hint: 'Wrap the value in an object, or leave outputSchema out for clients of 2025-06-18 and 2025-11-25.',
    run(context) {
      if (!context.facts.tools.some((tool) => tool['outputSchema'] !== undefined)) {
        context.skip('no tool has an outputSchema');
      }
      return judgeEach(
        context,
        ({ outputSchema }) => {
          if (outputSchema === undefined) return undefined;
          const type = isJsonObject(outputSchema) ? outputSchema['type'] : undefined;
          return type === 'object'
            ? undefined
            : `the type of outputSchema is ${JSON.stringify(type) ?? 'missing'}`;
        },
        'an outputSchema of type object',
      );
    },
  },
  {
    id: 'tools/header-annotations-valid',
    suite: 'tools',
    title: 'Annotates only what can be a header with x-mcp-header',
    level: 'MUST',
    rules: ['HTTP-040', 'HTTP-041', 'HTTP-042', 'HTTP-043', 'HTTP-044', 'HTTP-045'],
    era: 'modern',
    hint: 'Clients drop the whole tool; annotate string, integer or boolean properties, each with a header of its own.',
    run(context) {
      if (
        !context.facts.tools.some((tool) =>
          findIn(tool['inputSchema'], (node) => (node['x-mcp-header'] === undefined ? undefined : 'x')),
        )
      ) {
        context.skip('no tool has an x-mcp-header');
      }
      return judgeEach(
        context,
        ({ inputSchema }) => {
          const read = readHeaderParams(inputSchema);
          if (read.kind === 'invalid') return read.why;
          // HTTP-044: a header has an integer that every client can hold.
          const unsafe = findIn(inputSchema, (node) =>
            node['x-mcp-header'] === undefined ? undefined : unsafeBound(node),
          );
          return unsafe === undefined ? undefined : `an annotated integer has the ${unsafe}`;
        },
        'annotations that clients accept',
      );
    },
  },
  {
    id: 'tools/required-are-described',
    suite: 'tools',
    title: 'Requires only arguments that it describes',
    level: 'SHOULD',
    rules: [],
    reason: 'A model cannot guess an argument that is required and not among the properties.',
    hint: 'Add the property, or take its name out of required.',
    run: (context) =>
      judgeEach(
        context,
        ({ inputSchema }) => {
          if (!isJsonObject(inputSchema) || !Array.isArray(inputSchema['required'])) return undefined;
          const properties = isJsonObject(inputSchema['properties']) ? inputSchema['properties'] : {};
          const unknown = inputSchema['required'].filter((name) => !Object.hasOwn(properties, String(name)));
          return unknown.length > 0 ? `${unknown.join(', ')} is required and not described` : undefined;
        },
        'every required argument among the properties',
      ),
  },
  {
    id: 'tools/defaults-fit',
    suite: 'tools',
    title: 'Gives arguments only defaults that fit their own schema',
    level: 'SHOULD',
    rules: [],
    reason: 'Clients fill in defaults; one that does not fit makes a call that cannot succeed.',
    hint: 'Correct the default, or the type beside it.',
    run(context) {
      const has = context.facts.tools.some((tool) =>
        propertiesOf(tool).some(([, each]) => each['default'] !== undefined),
      );
      if (!has) context.skip('no argument has a default');
      return judgeEach(
        context,
        async (tool) => {
          for (const [name, property] of propertiesOf(tool)) {
            if (property['default'] === undefined || JSON.stringify(property).includes('"$ref"')) continue;
            const problem = await problemOfValue(property, property['default']);
            if (problem !== undefined) return `the default of ${name} ${problem}`;
          }
          return undefined;
        },
        'defaults that fit',
      );
    },
  },
];

function schemasOf(tool: JsonObject): [member: string, schema: unknown][] {
  return (['inputSchema', 'outputSchema'] as const).flatMap((member) =>
    tool[member] === undefined ? [] : [[member, tool[member]]],
  );
}

export function propertiesOf({ inputSchema }: JsonObject): [name: string, property: JsonObject][] {
  const properties = isJsonObject(inputSchema) ? inputSchema['properties'] : undefined;
  if (!isJsonObject(properties)) return [];
  return Object.entries(properties).filter((entry): entry is [string, JsonObject] => isJsonObject(entry[1]));
}

/** A bound, default or choice beyond what JSON numbers hold exactly. */
function unsafeBound(schema: JsonObject): string | undefined {
  for (const keyword of ['minimum', 'maximum', 'const', 'default', 'enum']) {
    const values = [schema[keyword]].flat();
    const unsafe = values.find((value) => Number.isInteger(value) && !Number.isSafeInteger(value));
    if (unsafe !== undefined) return `${keyword} ${String(unsafe)}`;
  }
  return undefined;
}

/** The first answer that a search through a schema finds. */
function findIn(schema: unknown, look: (node: JsonObject) => string | undefined): string | undefined {
  const places: unknown[] = [schema];
  for (let steps = 0; places.length > 0 && steps < 100_000; steps++) {
    const place = places.pop();
    if (Array.isArray(place)) places.push(...place);
    if (!isJsonObject(place)) continue;
    const found = look(place);
    if (found !== undefined) return found;
    places.push(...Object.values(place));
  }
  return undefined;
}

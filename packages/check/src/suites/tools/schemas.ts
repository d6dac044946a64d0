import { readHeaderParams } from '@isthmus/sdk/internal/era/modern/headers.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Check } from '../../model.js';
import { judgeEach } from './each-tool.js';
import { dialectName, problemOfSchema, problemOfValue } from './validator.js';

/** The schemas of tools. */
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
    hint: 'Validate the schema with its meta-schema. Without $schema, it is JSON Schema 2020-12.',
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
    title: 'Uses JSON Schema 2020-12, or draft-07 with $schema',
    level: 'SHOULD',
    rules: [],
    reason: 'Clients must support only 2020-12. Many refuse a tool with another dialect.',
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
    title: 'Publishes schemas without external references',
    level: 'SHOULD',
    rules: ['JSCH-006', 'JSCH-009'],
    hint: 'Put referenced schemas under $defs: clients must not fetch them, and refuse the tool.',
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
    title: 'Gives legacy clients only output schemas of type object',
    level: 'MUST',
    rules: ['TOOL-008'],
    era: 'legacy',
    hint: 'Wrap the value in an object, or leave out outputSchema for clients of 2025-06-18 and 2025-11-25.',
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
    title: 'Uses x-mcp-header only on arguments that can be headers',
    level: 'MUST',
    rules: ['HTTP-040', 'HTTP-041', 'HTTP-042', 'HTTP-043', 'HTTP-044', 'HTTP-045'],
    era: 'modern',
    hint: 'Annotate only string, integer or boolean properties, each with a unique header. Otherwise clients drop the whole tool.',
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
          // HTTP-044: an integer in a header must be a safe integer.
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
    title: 'Requires only arguments that the schema defines',
    level: 'SHOULD',
    rules: [],
    reason: 'A model cannot guess a required argument that is not in properties.',
    hint: 'Add the property, or remove its name from required.',
    run: (context) =>
      judgeEach(
        context,
        ({ inputSchema }) => {
          if (!isJsonObject(inputSchema) || !Array.isArray(inputSchema['required'])) return undefined;
          const properties = isJsonObject(inputSchema['properties']) ? inputSchema['properties'] : {};
          const unknown = inputSchema['required'].filter((name) => !Object.hasOwn(properties, String(name)));
          return unknown.length > 0 ? `${unknown.join(', ')} is required, but not in properties` : undefined;
        },
        'every required argument among the properties',
      ),
  },
  {
    id: 'tools/defaults-fit',
    suite: 'tools',
    title: 'Gives arguments only defaults that match their own schema',
    level: 'SHOULD',
    rules: [],
    reason: 'Clients use the defaults, and a call with an invalid default fails.',
    hint: 'Correct the default or the type.',
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
        'defaults that match their schema',
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

/** A bound, default or choice that is not a safe integer. */
function unsafeBound(schema: JsonObject): string | undefined {
  for (const keyword of ['minimum', 'maximum', 'const', 'default', 'enum']) {
    const values = [schema[keyword]].flat();
    const unsafe = values.find((value) => Number.isInteger(value) && !Number.isSafeInteger(value));
    if (unsafe !== undefined) return `${keyword} ${String(unsafe)}`;
  }
  return undefined;
}

/** The first result of `look` in a schema. */
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

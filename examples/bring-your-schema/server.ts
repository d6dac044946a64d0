import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import { createServer, jsonSchema } from 'isthmus';
import * as v from 'valibot';
import { z } from 'zod';

export const server = createServer({ name: 'bring-your-schema', version: '1.0.0' });

// zod describes itself.
server.tool(
  'with_zod',
  {
    input: z.object({ city: z.string(), days: z.number().min(1).default(3) }),
    output: z.object({ summary: z.string() }),
  },
  ({ city, days }) => ({ summary: `${city}, ${days} days` }),
);

// arktype describes itself, too.
server.tool(
  'with_arktype',
  {
    input: type({ city: 'string', days: 'number >= 1 = 3' }),
    output: type({ summary: 'string' }),
  },
  ({ city, days }) => ({ summary: `${city}, ${days} days` }),
);

// valibot does so with its companion package.
server.tool(
  'with_valibot',
  {
    input: toStandardJsonSchema(
      v.object({ city: v.string(), days: v.optional(v.pipe(v.number(), v.minValue(1)), 3) }),
    ),
    output: toStandardJsonSchema(v.object({ summary: v.string() })),
  },
  ({ city, days }) => ({ summary: `${city}, ${days} days` }),
);

// Plain JSON Schema 2020-12. The type is yours to state; defaults are yours to apply.
server.tool(
  'with_json_schema',
  {
    input: jsonSchema<{ city: string; days?: number }>({
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'number', minimum: 1, default: 3 } },
      required: ['city'],
    }),
    output: jsonSchema<{ summary: string }>({
      type: 'object',
      properties: { summary: { type: 'string' } },
      required: ['summary'],
    }),
  },
  ({ city, days = 3 }) => ({ summary: `${city}, ${days} days` }),
);

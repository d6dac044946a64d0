import type { Context } from '@isthmus/sdk/internal/server/context.js';
import { jsonSchema } from '@isthmus/sdk/internal/server/schema.js';
import type { Server } from '@isthmus/sdk/internal/server/server.js';
import type { ElicitSchema } from '@isthmus/sdk/internal/wire/model.js';
import { READS } from './fixture-data.js';

/** Tools that ask the client a question while they run (`await ctx.elicit`), in either era. */
export function addElicitationTools(server: Server): void {
  server.tool(
    'test_sampling',
    {
      annotations: READS,
      description: "Asks the client's model",
      input: jsonSchema<{ prompt?: string }>({
        type: 'object',
        properties: { prompt: { type: 'string', description: 'What to ask' } },
      }),
    },
    async ({ prompt = 'Say hello' }, ctx) => {
      const answer = await ctx.sample({
        messages: [{ role: 'user', content: { type: 'text', text: prompt } }],
        maxTokens: 100,
      });
      const blocks = Array.isArray(answer.content) ? answer.content : [answer.content];
      const text = blocks.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join(' ');
      return `LLM response: ${text}`;
    },
  );
  const message = jsonSchema<{ message?: string }>({
    type: 'object',
    properties: { message: { type: 'string', description: 'What to ask' } },
  });
  server.tool(
    'test_elicitation',
    { annotations: READS, description: 'Asks the user', input: message },
    (args, ctx) =>
      ask(ctx, args.message ?? 'Please provide your information', {
        type: 'object',
        properties: {
          username: { type: 'string', description: "User's response" },
          email: { type: 'string', description: "User's email address" },
        },
        required: [],
      }),
  );
  server.tool(
    'test_streaming_elicitation',
    { annotations: READS, description: 'Asks the user while it works' },
    (_args, ctx) => {
      ctx.progress(1, 2, 'asking');
      return ask(ctx, 'Go on?', { type: 'object', properties: { go: { type: 'boolean' } } });
    },
  );
  server.tool(
    'test_elicitation_sep1034_defaults',
    { annotations: READS, description: 'A form with defaults' },
    (_args, ctx) =>
      ask(ctx, 'Please review and update the form fields with defaults', {
        type: 'object',
        properties: {
          name: { type: 'string', description: 'User name', default: 'John Doe' },
          age: { type: 'integer', description: 'User age', default: 30 },
          score: { type: 'number', description: 'User score', default: 95.5 },
          status: {
            type: 'string',
            description: 'User status',
            enum: ['active', 'inactive', 'pending'],
            default: 'active',
          },
          verified: { type: 'boolean', description: 'Verification status', default: true },
        },
        required: [],
      }),
  );
  server.tool(
    'test_elicitation_sep1330_enums',
    { annotations: READS, description: 'A form with every kind of choice' },
    (_args, ctx) => ask(ctx, 'Please select options from the enum fields', ENUMS),
  );
  server.tool(
    'test_url_elicitation',
    { annotations: READS, description: 'Sends the user to a page' },
    async (_args, ctx) => {
      const answer = await ctx.elicit({
        mode: 'url',
        message: 'Please sign in',
        url: 'https://example.com/sign-in',
      });
      return `URL elicitation: action=${answer.action}`;
    },
  );
  server.tool(
    'test_roots',
    { annotations: READS, description: "Lists the client's roots" },
    async (_args, ctx) => {
      const roots = await ctx.roots();
      return roots.map((root) => root.uri).join('\n');
    },
  );
}

const TITLED = [
  { const: 'value1', title: 'First Option' },
  { const: 'value2', title: 'Second Option' },
  { const: 'value3', title: 'Third Option' },
];
const VALUES = ['option1', 'option2', 'option3'];

const ENUMS: ElicitSchema = {
  type: 'object',
  properties: {
    untitledSingle: { type: 'string', description: 'Select one option', enum: VALUES },
    titledSingle: { type: 'string', description: 'Select one option with titles', oneOf: TITLED },
    legacyEnum: {
      type: 'string',
      description: 'Select one option (legacy)',
      enum: ['opt1', 'opt2', 'opt3'],
      enumNames: ['Option One', 'Option Two', 'Option Three'],
    },
    untitledMulti: {
      type: 'array',
      description: 'Select multiple options',
      minItems: 1,
      maxItems: 3,
      items: { type: 'string', enum: VALUES },
    },
    titledMulti: {
      type: 'array',
      description: 'Select multiple options with titles',
      minItems: 1,
      maxItems: 3,
      items: { anyOf: TITLED },
    },
  },
  required: [],
};

async function ask(ctx: Context, message: string, requestedSchema: ElicitSchema): Promise<string> {
  const answer = await ctx.elicit({ message, requestedSchema });
  const content = 'content' in answer ? answer.content : undefined;
  return `Elicitation completed: action=${answer.action}, content=${JSON.stringify(content ?? {})}`;
}

import {
  type CallToolResult,
  type Context,
  createServer,
  type Era,
  inputRequired,
  jsonSchema,
  memory,
  type PromptRegistration,
  type Registration,
  type Root,
  type Served,
  serve,
  stdio,
  type TemplateVariables,
  tcp,
  unixSocket,
  withJsonSchema,
} from '@isthmus/sdk';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { z } from 'zod';

/** Compile-time tests, checked by `tsc`: types flow from schemas to handlers and back. Nothing here runs. */

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/** Fails to compile unless the two types are the same; `any` is the same only as `any`. */
function same<A, B>(..._proof: Same<A, B> extends true ? [] : [never]): void {}

same<string, string>();
// @ts-expect-error the check itself must be able to fail
same<string, string | undefined>();
// @ts-expect-error `any` proves nothing
// biome-ignore lint/suspicious/noExplicitAny: the very thing that must not pass
same<any, string>();

const server = createServer({ name: 'types', version: '1' });

// @ts-expect-error a server has a version
createServer({ name: 'types' });
// @ts-expect-error a misspelt option
createServer({ name: 'types', version: '1', instruction: 'x' });

// Input: every library hands its output type to the handler.

type City = { city: string; days?: number | undefined };

server.tool('zod', { input: z.object({ city: z.string(), days: z.number().optional() }) }, (args, ctx) => {
  same<typeof args, City>();
  same<typeof ctx, Context>();
  // @ts-expect-error not in the schema
  args.country;
  return args.city;
});

server.tool(
  'valibot',
  { input: toStandardJsonSchema(v.object({ city: v.string(), days: v.optional(v.number()) })) },
  (args) => {
    same<typeof args, City>();
    return args.city;
  },
);

server.tool('arktype', { input: type({ city: 'string', 'days?': 'number' }) }, (args) => {
  same<typeof args.city, string>();
  same<typeof args.days, number | undefined>();
  // @ts-expect-error not in the schema
  args.country;
  return args.city;
});

server.tool('json schema', { input: jsonSchema<{ city: string }>({ type: 'object' }) }, (args) => {
  same<typeof args, { city: string }>();
  return args.city;
});

server.tool('untyped json schema', { input: { type: 'object', properties: { a: {} } } }, (args) => {
  // What is not described is unknown, but it can be looked at.
  same<(typeof args)['a'], unknown>();
  return String(args['a']);
});

server.tool(
  'described',
  { input: withJsonSchema(v.object({ a: v.string() }), { type: 'object' }) },
  (args) => {
    same<typeof args, { a: string }>();
    return args.a;
  },
);

server.tool('no input', {}, (args) => {
  same<(typeof args)[string], unknown>();
  return 'x';
});

server.tool(
  'transform',
  { input: z.object({ n: z.string().transform(Number), d: z.string().default('x') }) },
  (args) => {
    same<typeof args, { n: number; d: string }>();
    return String(args.n);
  },
);

// Output: what the handler returns must fit the schema.

const sum = z.object({ sum: z.number() });

server.tool('fits', { output: sum }, () => ({ sum: 1 }));
server.tool('fits later', { output: sum }, async () => ({ sum: 1 }));
server.tool(
  'whole result',
  { output: sum },
  (): CallToolResult => ({ content: [], structuredContent: { sum: 1 } }),
);
server.tool('round', { output: sum }, () => inputRequired({ state: 1 }));
server.tool('default', { output: z.object({ n: z.number().default(1) }) }, () => ({}));
server.tool('by json schema', { output: jsonSchema<{ sum: number }>({ type: 'object' }) }, () => ({
  sum: 1,
}));
server.tool('by arktype', { output: type({ sum: 'number' }) }, () => ({ sum: 1 }));
server.tool('by valibot', { output: toStandardJsonSchema(v.object({ sum: v.number() })) }, () => ({
  sum: 1,
}));
server.tool('both', { input: z.object({ a: z.number() }), output: sum }, ({ a }) => ({ sum: a }));

// @ts-expect-error the wrong type
server.tool('wrong', { output: sum }, () => ({ sum: '1' }));
// @ts-expect-error the wrong type, later
server.tool('wrong later', { output: sum }, async () => ({ sum: '1' }));
// @ts-expect-error a member is missing
server.tool('missing', { output: sum }, () => ({}));
// @ts-expect-error a string is not what was promised
server.tool('string', { output: sum }, () => 'one');
// @ts-expect-error nothing is not what was promised
server.tool('nothing', { output: sum }, () => {});
// @ts-expect-error by JSON Schema
server.tool('wrong json', { output: jsonSchema<{ sum: number }>({ type: 'object' }) }, () => ({ sum: '1' }));
// @ts-expect-error by arktype
server.tool('wrong arktype', { output: type({ sum: 'number' }) }, () => ({ sum: '1' }));

// Without an output schema nearly anything goes.

server.tool('string', {}, () => 'x');
server.tool('nothing', {}, () => {});
server.tool('nothing later', {}, async () => {});
server.tool('block', {}, () => ({ type: 'text', text: 'x' }));
server.tool('blocks', {}, () => [{ type: 'image', data: '', mimeType: 'image/png' }]);
server.tool('data', {}, () => ({ any: ['thing'] }));
server.tool('never', {}, () => {
  throw new Error('x');
});
// @ts-expect-error JSON has no bigint
server.tool('bigint', {}, () => 1n);
// @ts-expect-error nor symbols
server.tool('symbol', {}, () => Symbol('x'));

// @ts-expect-error a misspelt member of the definition
server.tool('typo', { descripton: 'x' }, () => 'x');
// @ts-expect-error a number is no schema
server.tool('no schema', { input: 7 }, () => 'x');

// Prompts

const registration = server.prompt(
  'prompt',
  { arguments: { who: { required: true }, how: { description: 'kindly?' }, when: { required: false } } },
  (args, ctx) => {
    same<typeof args.who, string>();
    same<typeof args.how, string | undefined>();
    same<typeof args.when, string | undefined>();
    same<typeof ctx, Context>();
    // @ts-expect-error not an argument
    args.where;
    return `${args.who}`;
  },
);
same<typeof registration, PromptRegistration>();
same<PromptRegistration extends Registration ? true : false, true>();

server.prompt('no arguments', {}, (args) => {
  // @ts-expect-error there are none
  args.who;
  return [{ role: 'user', content: { type: 'text', text: 'x' } }];
});
server.prompt(
  'completed',
  { arguments: { a: { complete: (value, others) => [value, others['b'] ?? ''] } } },
  ({ a }) => {
    same<typeof a, string | undefined>();
    return 'x';
  },
);

server.prompt(
  'by zod',
  { arguments: z.object({ n: z.coerce.number(), s: z.string().optional() }) },
  (args) => {
    same<typeof args, { n: number; s?: string | undefined }>();
    return 'x';
  },
);
server.prompt('official spelling', { argsSchema: z.object({ s: z.string() }) }, ({ s }) => {
  same<typeof s, string>();
  return s;
});
server.prompt('by JSON Schema', { arguments: jsonSchema<{ s: string }>({ type: 'object' }) }, ({ s }) => {
  same<typeof s, string>();
  return s;
});
server.prompt('plain JSON Schema', { arguments: { type: 'object', properties: { s: {} } } }, (args) => {
  same<(typeof args)[string], string | undefined>();
  return 'x';
});
// @ts-expect-error a misspelt member of an argument
server.prompt('typo', { arguments: { who: { requird: true } } }, () => 'x');
server.tool('official spelling', { inputSchema: z.object({ a: z.number() }) }, ({ a }) => {
  same<typeof a, number>();
  return 'x';
});
server
  .tool('updated', { input: z.object({ a: z.number() }) }, () => 'x')
  .update({ title: 'T' }, ({ a }) => {
    same<typeof a, number>();
    return 'x';
  });
server
  .tool('updated', {}, () => 'x')
  .update({ input: z.object({ b: z.string() }) }, ({ b }) => {
    same<typeof b, string>();
    return 'x';
  });
// @ts-expect-error a prompt says something
server.prompt('nothing', {}, () => {});
// @ts-expect-error nobody is called that
server.prompt('role', {}, () => ({ role: 'system', content: { type: 'text', text: 'x' } }));

// Resources

server.resource('x:a', { name: 'a' }, (uri) => {
  same<typeof uri, string>();
  return new Uint8Array();
});
server.resourceTemplate(
  'x:{id}',
  { name: 'a', complete: { id: () => ({ values: [], total: 5 }) } },
  ({ id }, ctx, uri) => {
    same<typeof id, string>();
    same<typeof ctx, Context>();
    return { text: `${String(id)} ${uri}` };
  },
);
server.resourceTemplate('x:{+path*}/{a,b:3}{?q,tags*}', { name: 'a' }, (variables) => {
  same<typeof variables.path, string[]>();
  same<typeof variables.a, string>();
  same<typeof variables.b, string | undefined>();
  same<typeof variables.q, string | undefined>();
  same<typeof variables.tags, string[] | undefined>();
  // @ts-expect-error not a variable of the template
  variables.id;
  return 'x';
});
server.resourceTemplate('x:{id}' as string, { name: 'a' }, (variables) => {
  same<typeof variables, TemplateVariables>();
  return 'x';
});
// @ts-expect-error the template has no such variable
server.resourceTemplate('x:{id}', { name: 'a', complete: { ids: () => [] } }, () => 'x');
server.resourceTemplate('x:{id}', { name: 'a', list: () => [{ uri: 'x:1' }] }, () => 'x');
// @ts-expect-error a listed resource has a URI
server.resourceTemplate('x:{id}', { name: 'a', list: () => [{ name: 'one' }] }, () => 'x');
// @ts-expect-error a resource has a name
server.resource('x:b', {}, () => 'x');
// @ts-expect-error a resource is text or bytes
server.resource('x:b', { name: 'b' }, () => 7);

// The context

server.tool('context', {}, async (_args, ctx) => {
  same<typeof ctx.era, Era>();
  same<typeof ctx.signal, AbortSignal>();
  const answer = await ctx.elicit({ message: '?', schema: z.object({ colour: z.enum(['red', 'blue']) }) });
  // @ts-expect-error the user may have declined
  answer.content;
  if (answer.action === 'accept') same<typeof answer.content, { colour: 'red' | 'blue' }>();
  const typed = await ctx.elicit({ message: '?', schema: jsonSchema<{ n: number }>({ type: 'object' }) });
  if (typed.action === 'accept') same<typeof typed.content, { n: number }>();
  const byHand = await ctx.elicit({
    message: '?',
    requestedSchema: { type: 'object', properties: { a: { type: 'string' } } },
  });
  same<typeof byHand.action, 'accept' | 'decline' | 'cancel'>();
  await ctx.elicit({ mode: 'url', message: '?', url: 'https://example.com' });
  const roots = await ctx.roots();
  same<typeof roots, Root[]>();
  const said = await ctx.sample({
    messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }],
    maxTokens: 5,
  });
  same<typeof said.model, string>();
  ctx.log('info', { any: 'thing' }, 'logger');
  ctx.progress(1, 2, 'half');
  // @ts-expect-error no such level
  ctx.log('loud', 'x');
  // @ts-expect-error a page needs an address
  await ctx.elicit({ mode: 'url', message: '?' });
  await ctx.elicit({
    message: '?',
    // @ts-expect-error forms are flat
    requestedSchema: { type: 'object', properties: { a: { type: 'object', properties: {} } } },
  });
  // @ts-expect-error a question has words
  await ctx.elicit({ schema: z.object({}) });
  return 'x';
});

// Middleware and serving

server.use(async (call, next) => {
  same<typeof call.method, string>();
  return next();
});
// @ts-expect-error the result must be passed on
server.use(async (_call, next) => {
  await next();
});

export async function serving(): Promise<void> {
  const served = await serve(server, [stdio(), unixSocket('/tmp/x'), tcp({ port: 0 }), memory()], {
    eras: ['modern'],
    graceMs: 1,
    onClose: () => {},
  });
  same<typeof served, Served>();
  await using _closed = served;
  // @ts-expect-error no such era
  await serve(server, memory(), { eras: ['ancient'] });
  // @ts-expect-error a misspelt option
  await serve(server, memory(), { gracems: 1 });
  // @ts-expect-error a port is a number
  tcp({ port: '80' });
}

import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Reply } from '../../conversation/conversation.js';
import type { Check } from '../../model.js';
import type { CheckContext } from '../../run/check-context.js';
import type { CallableTool } from '../../survey/facts.js';
import { needTools } from './each-tool.js';
import { propertiesOf } from './schemas.js';

/** Calls with invalid names and arguments. */
export const toolArgumentChecks: readonly Check[] = [
  {
    id: 'tools/unknown-tool',
    suite: 'tools',
    title: 'Refuses an unknown tool with -32602',
    level: 'SHOULD',
    rules: ['TOOL-019'],
    hint: 'Answer with a JSON-RPC error -32602 that names the tool.',
    async run(context) {
      context.needCapability('tools');
      const reply = await call(context, 'isthmus_check_no_such_tool', {});
      return expectError(context, reply, 'a tool that does not exist');
    },
  },
  {
    id: 'tools/call-without-name',
    suite: 'tools',
    title: 'Refuses tools/call without a name with -32602',
    level: 'SHOULD',
    rules: ['TOOL-019'],
    hint: 'Check the params before you look up the tool.',
    async run(context) {
      context.needCapability('tools');
      const reply = await (await context.conversation()).request('tools/call', { arguments: {} });
      // Over HTTP, Mcp-Name is missing, too, and a server may report that instead.
      if (context.target.transport === 'http' && reply.kind === 'error' && reply.error.code === -32020)
        return 'refused with -32020';
      return expectError(context, reply, 'tools/call without a name');
    },
  },
  {
    id: 'tools/inputs-validated',
    suite: 'tools',
    title: 'Does not run a tool whose argument has the wrong type',
    level: 'MUST',
    rules: ['TOOL-026'],
    hint: 'Validate the arguments with the inputSchema before you call the function.',
    async run(context) {
      needTools(context);
      const { tool, name, args, why } = needWrongType(context);
      const reply = await call(context, tool.name, args);
      expectRefusal(context, reply, `${tool.name} with ${why}`);
      return `${tool.name} refused ${name}`;
    },
  },
  {
    id: 'tools/invalid-arguments-are-results',
    suite: 'tools',
    title: 'Reports invalid arguments as a result with isError',
    level: 'SHOULD',
    rules: ['TOOL-018'],
    hint: 'Return `{ isError: true, content: [...] }` with the reason: a model sees results, and rarely errors.',
    async run(context) {
      needTools(context);
      if (context.era === 'legacy' && context.revision < '2025-11-25')
        context.skip('the rule applies since 2025-11-25');
      const { tool, args, why } = needWrongType(context);
      const reply = await call(context, tool.name, args);
      if (reply.kind === 'error') {
        context.fail(
          `${tool.name} with ${why} was answered with error ${reply.error.code}`,
          'a result with isError',
        );
      }
      return `${tool.name} with ${why} returned a result`;
    },
  },
  {
    id: 'tools/missing-argument-refused',
    suite: 'tools',
    title: 'Does not run a tool without a required argument',
    level: 'MUST',
    rules: ['TOOL-026'],
    hint: 'Validate the arguments with the inputSchema, including required.',
    async run(context) {
      needTools(context);
      const tool = context.needTool(
        ({ tool: each }) => requiredOf(each).length > 0,
        'that can be called and requires an argument',
      );
      const [name] = requiredOf(tool.tool);
      const args = Object.fromEntries(Object.entries(tool.args).filter(([key]) => key !== name));
      expectRefusal(context, await call(context, tool.name, args), `${tool.name} without ${name}`);
      return `${tool.name} refused to run without ${name}`;
    },
  },
  {
    id: 'tools/surplus-argument-refused',
    suite: 'tools',
    title: 'Refuses arguments that its schema excludes',
    level: 'MUST',
    rules: ['TOOL-026'],
    hint: 'Validate with the published schema, including additionalProperties: false.',
    async run(context) {
      needTools(context);
      const tool = context.needTool(
        ({ tool: each }) =>
          isJsonObject(each['inputSchema']) && each['inputSchema']['additionalProperties'] === false,
        'that can be called and excludes other arguments',
      );
      const args = { ...tool.args, isthmus_check_surplus: 1 };
      expectRefusal(
        context,
        await call(context, tool.name, args),
        `${tool.name} with an argument that its schema excludes`,
      );
      return `${tool.name} refused it`;
    },
  },
  {
    id: 'tools/arguments-optional',
    suite: 'tools',
    title: 'Runs a tool without required arguments if arguments is missing',
    level: 'SHOULD',
    rules: [],
    reason: 'arguments is optional in tools/call, and clients leave it out.',
    hint: 'Treat missing arguments as {}.',
    async run(context) {
      needTools(context);
      const tool = context.needTool(
        ({ tool: each, name }) => requiredOf(each).length === 0 && succeeded(context, name),
        'that can be called without arguments and succeeds',
      );
      const reply = await (await context.conversation()).request('tools/call', { name: tool.name });
      const failed = reply.kind !== 'result' || reply.result['isError'] === true;
      if (failed)
        context.fail(`${tool.name} failed without arguments: ${describe(reply)}`, 'the same as with {}');
      return `${tool.name} ran without arguments`;
    },
  },
];

/** Whether a call of the tool succeeded during the survey. */
function succeeded(context: CheckContext, name: string): boolean {
  return context.facts.walkthrough.some(
    ({ method, params, reply }) =>
      method === 'tools/call' &&
      params['name'] === name &&
      reply.kind === 'result' &&
      reply.result['isError'] !== true &&
      reply.result['resultType'] !== 'input_required',
  );
}

async function call(context: CheckContext, name: string, args: JsonObject): Promise<Reply> {
  return (await context.conversation()).request('tools/call', { name, arguments: args });
}

/** A tool, and arguments of which one has the wrong type. */
function needWrongType(context: CheckContext): {
  tool: CallableTool;
  name: string;
  args: JsonObject;
  why: string;
} {
  for (const tool of context.facts.callable) {
    for (const [name, property] of propertiesOf(tool.tool)) {
      const wrong = WRONG.get(String(property['type']));
      if (wrong === undefined || property['enum'] !== undefined) continue;
      // Over HTTP the argument is also a header, and a server may refuse the header.
      if (property['x-mcp-header'] !== undefined) continue;
      const why = `${JSON.stringify(wrong)} for ${name}, which is ${String(property['type'])}`;
      return { tool, name, args: { ...tool.args, [name]: wrong }, why };
    }
  }
  return context.skip(
    context.facts.callable.length === 0
      ? `there is no tool that can be called${context.facts.objections[0] === undefined ? '' : `: ${context.facts.objections[0]}`}`
      : 'no tool that can be called has an argument with a plain type',
  );
}

const WRONG: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['string', { not: 'a string' }],
  ['number', { not: 'a number' }],
  ['integer', { not: 'an integer' }],
  ['boolean', { not: 'a boolean' }],
  ['array', { not: 'an array' }],
]);

function requiredOf(tool: JsonObject): string[] {
  const schema = tool['inputSchema'];
  return isJsonObject(schema) && Array.isArray(schema['required']) ? schema['required'].map(String) : [];
}

function expectError(context: CheckContext, reply: Reply, what: string): string {
  if (reply.kind === 'error' && reply.error.code === -32602) return `${what}: refused with -32602`;
  return context.fail(`${what} was answered with ${describe(reply)}`, 'error -32602');
}

/** Accepts a result with isError and an error, since pages of the specification differ. */
function expectRefusal(context: CheckContext, reply: Reply, what: string): void {
  if (reply.kind === 'error') return;
  if (reply.kind === 'result' && reply.result['isError'] === true) return;
  context.fail(`${what} was answered with ${describe(reply)}`, 'a result with isError, or an error');
}

function describe(reply: Reply): string {
  if (reply.kind === 'error') return `error ${reply.error.code}: ${reply.error.message.slice(0, 120)}`;
  if (reply.kind === 'silence') return `nothing: ${reply.why}`;
  return `the result ${JSON.stringify(reply.result).slice(0, 160)}`;
}

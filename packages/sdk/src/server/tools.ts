import { checkedOptions, type OptionNames } from '../arguments.js';
import { isThenable } from '../async/deferred.js';
import { type InputRequired, isInputRequired } from '../era/input-rounds.js';
import { readHeaderParams } from '../era/modern/headers.js';
import { messageOf, ProtocolError } from '../errors.js';
import { events } from '../events.js';
import type { Call, HeaderParam } from '../exchange/call.js';
import type { Checked } from '../schema/json-schema.js';
import { ErrorCode } from '../wire/error-codes.js';
import { isJsonObject, type JsonObject } from '../wire/json-rpc.js';
import type { CallToolResult, ContentBlock, Icon, Tool, ToolAnnotations } from '../wire/model.js';
import { checkHandler } from './check-registration.js';
import { isExplicitResult, toolError, toToolResult } from './content.js';
import { Context } from './context.js';
import { defined, type Registration, type Registry } from './registry.js';
import {
  type AnySchema,
  type CompiledSchema,
  compileSchema,
  type Input,
  invalidSchema,
  isStandardSchema,
  type Output,
} from './schema.js';
import { readToolTask, type TaskPlan, type ToolTask } from './tasks/options.js';
import type { TaskRunner } from './tasks/task-runner.js';

/** What clients see of a tool, and the schemas of its input and output. */
export interface ToolDefinition<I extends AnySchema | undefined, O extends AnySchema | undefined> {
  readonly title?: string;
  readonly description?: string;
  /** The arguments; the root is an object. Without it the tool takes any arguments. */
  readonly input?: I;
  /** The structured content of the result. */
  readonly output?: O;
  /** The same as `input`, as the official SDK spells it. */
  readonly inputSchema?: I;
  /** The same as `output`, as the official SDK spells it. */
  readonly outputSchema?: O;
  readonly annotations?: ToolAnnotations;
  readonly icons?: Icon[];
  readonly _meta?: JsonObject;
  /**
   * Whether calls run as tasks: `never` (the default), `allowed`, or `required`. The client polls for the result of a task,
   * and may disconnect meanwhile.
   */
  readonly task?: ToolTask;
}

export type ToolHandler<I, O> = (
  args: I extends AnySchema ? Output<I> : JsonObject,
  ctx: Context,
) => ToolReturn<O> | Promise<ToolReturn<O>>;

/** With an output schema: data that fits it. Without one: a string, content, data, or nothing. */
type ToolReturn<O> =
  | (O extends AnySchema
      ? Input<O>
      : string | ContentBlock | ContentBlock[] | object | number | boolean | null | undefined | void)
  | CallToolResult
  | InputRequired;

/** A registered tool: its entry in lists, built once, and how to run it. */
export interface RegisteredTool {
  readonly listed: Tool;
  /** The same for sessions of 2025-11-25, if the tool can run as a task. */
  readonly listedWithTask: Tool | undefined;
  /** Undefined: its calls never run as tasks. */
  readonly task: TaskPlan | undefined;
  readonly input: CompiledSchema | undefined;
  readonly output: CompiledSchema | undefined;
  /** Arguments that are repeated in headers. */
  readonly headerParams: readonly HeaderParam[];
  readonly run: (args: never, ctx: Context) => unknown;
}

/** Controls a registered tool. */
export interface ToolRegistration<I extends AnySchema | undefined, O extends AnySchema | undefined>
  extends Registration {
  /**
   * Changes members of the definition, and the handler if one is given. The rest stays. Clients are notified. A new
   * `input` or `output` needs a handler that fits it.
   */
  update<I2 extends AnySchema | undefined = I, O2 extends AnySchema | undefined = O>(
    changes: ToolDefinition<I2, O2>,
    handler?: ToolHandler<I2, O2>,
  ): void;
}

export function addTool<I extends AnySchema | undefined, O extends AnySchema | undefined>(
  registry: Registry<RegisteredTool>,
  name: string,
  given: ToolDefinition<I, O>,
  run: ToolHandler<I, O>,
  startTasks: () => void,
): ToolRegistration<I, O> {
  let definition: AnyToolDefinition = checkedTool(name, given);
  let handler = run as RegisteredTool['run'];
  const built = buildTool(name, definition, handler);
  const registration = registry.add(name, built, (changes, next) => {
    const changed = { ...definition, ...checkedTool(name, changes) };
    const changedHandler = (next ?? handler) as RegisteredTool['run'];
    checkHandler(name, changedHandler);
    const tool = buildTool(name, changed, changedHandler);
    if (tool.task) startTasks();
    definition = changed;
    handler = changedHandler;
    return tool;
  });
  if (built.task) startTasks();
  warnOfName(name);
  return registration;
}

type AnyToolDefinition = ToolDefinition<AnySchema | undefined, AnySchema | undefined>;

function checkedTool(name: string, given: AnyToolDefinition): AnyToolDefinition {
  return checkedOptions(`server.tool(${JSON.stringify(name)})`, given, TOOL_OPTIONS, (option, value) =>
    isStandardSchema(value) ? `; wrap the arguments: { input: z.object({ ${option}: … }) }` : undefined,
  );
}

const TOOL_OPTIONS: OptionNames<AnyToolDefinition> = {
  title: true,
  description: true,
  input: true,
  output: true,
  inputSchema: true,
  outputSchema: true,
  annotations: true,
  icons: true,
  _meta: true,
  task: true,
};

function buildTool(name: string, definition: AnyToolDefinition, run: RegisteredTool['run']): RegisteredTool {
  const { input, output, title, description, annotations, icons, _meta } = definition;
  const owner = `tool ${name}`;
  const compiledInput = input && compileSchema(input, 'input', `${owner} (input)`);
  const compiledOutput = output && compileSchema(output, 'output', `${owner} (output)`);
  const inputSchema = compiledInput?.json ?? { type: 'object' };
  // TOOL-006
  if (inputSchema['type'] !== 'object')
    throw invalidSchema(owner, 'the input must have type "object" at its root');
  const outputSchema = compiledOutput?.json;
  const task = readToolTask(owner, definition.task);
  const shown = { name, title, description, inputSchema, outputSchema, annotations, icons, _meta };
  const listed = defined(shown) as unknown as Tool;
  const taskSupport = task?.mode === 'required' ? 'required' : 'optional';
  return {
    listed,
    listedWithTask: task && { ...listed, execution: { taskSupport } },
    task,
    input: compiledInput,
    output: compiledOutput,
    headerParams: headerParamsOf(owner, inputSchema),
    run,
  };
}

/** MCP allows more names than the APIs of language models do. */
function warnOfName(name: string): void {
  if (/^[a-zA-Z0-9_-]{1,64}$/.test(name)) return;
  const why = `The tool name "${name.slice(0, 80)}" is refused by LLM APIs: they allow 1 to 64 letters, digits, _ and -`;
  process.emitWarning(why, { type: 'IsthmusWarning', code: 'ISTHMUS_TOOL_NAME' });
}

/** Clients leave out a tool with invalid header annotations, so its author gets the error at registration. */
function headerParamsOf(owner: string, inputSchema: JsonObject): readonly HeaderParam[] {
  const read = readHeaderParams(inputSchema);
  if (read.kind === 'invalid') throw invalidSchema(owner, read.why);
  return read.params;
}

/** Runs a tool. Without a promise of the tool or of its schemas the result is synchronous. */
export function callTool(
  registry: Registry<RegisteredTool>,
  call: Call,
  tasks: TaskRunner | undefined,
): JsonObject | Promise<JsonObject> {
  const { name, arguments: args = {} } = call.params;
  if (typeof name !== 'string') throw invalidParams('params.name must be a string');
  if (!isJsonObject(args)) throw invalidParams('params.arguments must be an object');
  const tool = registry.get(name);
  if (!tool) throw invalidParams(`Unknown tool: ${name}`);
  if (tasks) return tasks.run(call, tool.task, (each) => runTool(tool, args, each));
  return runTool(tool, args, call);
}

function runTool(tool: RegisteredTool, args: JsonObject, call: Call): JsonObject | Promise<JsonObject> {
  if (!tool.input) return invoke(tool, args, call);
  const checked = tool.input.check(args);
  return checked instanceof Promise
    ? checked.then((outcome) => invokeChecked(tool, outcome, call))
    : invokeChecked(tool, checked, call);
}

function invokeChecked(tool: RegisteredTool, checked: Checked, call: Call): JsonObject | Promise<JsonObject> {
  // TOOL-018: the model can correct itself.
  if (!checked.ok) return toolError(`Invalid arguments for tool ${tool.listed.name}: ${checked.problem}`);
  return invoke(tool, checked.value, call);
}

function invoke(tool: RegisteredTool, args: unknown, call: Call): JsonObject | Promise<JsonObject> {
  let returned: unknown;
  try {
    returned = tool.run(args as never, new Context(call));
  } catch (error) {
    return failure(tool, error, call);
  }
  if (!isThenable(returned)) return conclude(tool, returned);
  return Promise.resolve(returned).then(
    (value) => conclude(tool, value),
    (error) => failure(tool, error, call),
  );
}

function conclude(tool: RegisteredTool, value: unknown): JsonObject | Promise<JsonObject> {
  if (isJsonObject(value) && isInputRequired(value)) return value;
  if (!tool.output) return toToolResult(value, tool.listed.name);
  const given = isExplicitResult(value, tool.listed.name) ? value : { structuredContent: value };
  if (given.isError === true) return toToolResult(given, tool.listed.name);
  const checked = tool.output.check(given.structuredContent);
  return checked instanceof Promise
    ? checked.then((outcome) => conforming(tool, given, outcome))
    : conforming(tool, given, checked);
}

/**
 * TOOL-012. The result has the data as the schema transforms it (defaults filled in, unknown members removed). Data that
 * does not fit is an error of the server, not of the caller.
 */
function conforming(tool: RegisteredTool, given: JsonObject, checked: Checked): JsonObject {
  if (checked.ok) return toToolResult({ ...given, structuredContent: checked.value }, tool.listed.name);
  throw new ProtocolError(
    ErrorCode.InternalError,
    `Tool ${tool.listed.name} returned data that does not fit its output schema: ${checked.problem}`,
  );
}

function failure(tool: RegisteredTool, error: unknown, call: Call): JsonObject {
  // The error of an aborted tool is not a result of the tool.
  if (error instanceof ProtocolError || call.cancellation?.aborted) throw error;
  if (events.handlerFailed.hasSubscribers) {
    events.handlerFailed.publish({ method: 'tools/call', tool: tool.listed.name, error });
  }
  return toolError(messageOf(error));
}

function invalidParams(message: string): ProtocolError {
  return new ProtocolError(ErrorCode.InvalidParams, message);
}

import { IsthmusError, messageOf } from '../errors.js';
import { type Checked, compileJsonSchema } from '../schema/json-schema.js';
import { checkJsonSchema } from '../schema/json-schema-shape.js';
import { isJsonObject, type JsonObject } from '../wire/json-rpc.js';

type TaskSupport = 'required' | 'optional' | 'forbidden';

/** Checks results against the output schemas of the tools that were listed. */
export class OutputChecks {
  #checks: Map<string, Check> | undefined;
  /** How the listed tools of a server of 2025-11-25 run as tasks. */
  #tasks: Map<string, TaskSupport> | undefined;

  /** Learns from a page of `tools/list`. A tool with an unusable schema is not checked (JSCH-006). */
  learn(result: JsonObject): void {
    for (const tool of Array.isArray(result['tools']) ? result['tools'] : []) {
      if (!isJsonObject(tool) || typeof tool['name'] !== 'string') continue;
      const { execution } = tool;
      const support = isJsonObject(execution) ? execution['taskSupport'] : undefined;
      this.#tasks ??= new Map();
      this.#tasks.set(tool['name'], support === 'required' || support === 'optional' ? support : 'forbidden');
      const schema = tool['outputSchema'];
      if (isJsonObject(schema) && checkJsonSchema(schema) === undefined) {
        this.#checks ??= new Map();
        this.#checks.set(tool['name'], compileJsonSchema(schema, `tool ${tool['name']} (output)`, 'peer'));
      } else this.#checks?.delete(tool['name']);
    }
  }

  forget(): void {
    this.#checks = undefined;
    this.#tasks = undefined;
  }

  /** TASK-L-006, TASK-L-009: whether the tool may, must or must not be called as a task. Undefined: it was not listed. */
  taskSupport(name: string): TaskSupport | undefined {
    return this.#tasks?.get(name);
  }

  /** Rejects if the result does not fit. Undefined: there is nothing to check. */
  check(name: string, result: JsonObject): Promise<void> | undefined {
    const check = this.#checks?.get(name);
    if (!check || result['isError'] === true || isUnfinished(result['resultType'])) return undefined;
    return this.#check(check, name, result);
  }

  async #check(check: Check, name: string, result: JsonObject): Promise<void> {
    const checked: Checked =
      result['structuredContent'] === undefined
        ? { ok: false, problem: 'structuredContent is missing' }
        : await this.#run(check, name, result['structuredContent']);
    if (checked.ok) return;
    throw new IsthmusError(
      'INVALID_RESULT',
      `The result of ${name} does not fit the tool's output schema: ${checked.problem}`,
      { sent: 'maybe' },
    );
  }

  /** A result that cannot be checked is refused (JSCH-009, JSCH-010). */
  async #run(check: Check, name: string, value: unknown): Promise<Checked> {
    try {
      return await check(value);
    } catch (error) {
      const message = `The result of ${name} cannot be checked: ${messageOf(error)}`;
      throw new IsthmusError('INVALID_RESULT', message, { sent: 'maybe', cause: error });
    }
  }
}

function isUnfinished(type: unknown): boolean {
  return type === 'input_required' || type === 'task';
}

type Check = ReturnType<typeof compileJsonSchema>;

/** Refuses a result without its main member here, with a clear error, and not by a TypeError in the caller's code. */
export function checkShape(method: string, result: JsonObject): void {
  const shape = SHAPES.get(method);
  if (!shape || result['resultType'] === 'input_required') return;
  const { member, isValid } = shape;
  if (isValid(result[member])) return;
  throw new IsthmusError('INVALID_RESULT', `The result of ${method} has no valid ${member}`, {
    sent: 'maybe',
  });
}

const SHAPES: ReadonlyMap<string, { member: string; isValid: (value: unknown) => boolean }> = new Map([
  ['tools/list', { member: 'tools', isValid: Array.isArray }],
  ['resources/list', { member: 'resources', isValid: Array.isArray }],
  ['resources/templates/list', { member: 'resourceTemplates', isValid: Array.isArray }],
  ['prompts/list', { member: 'prompts', isValid: Array.isArray }],
  ['resources/read', { member: 'contents', isValid: Array.isArray }],
  ['prompts/get', { member: 'messages', isValid: Array.isArray }],
  [
    'completion/complete',
    { member: 'completion', isValid: (value) => isJsonObject(value) && Array.isArray(value['values']) },
  ],
]);

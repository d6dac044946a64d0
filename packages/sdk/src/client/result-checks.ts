import { IsthmusError, messageOf } from '../errors.js';
import { type Checked, compileJsonSchema } from '../schema/json-schema.js';
import { checkJsonSchema } from '../schema/json-schema-shape.js';
import { isJsonObject, type JsonObject } from '../wire/json-rpc.js';

/** Holds servers to the output schemas of their tools, as far as their lists have been read. */
export class OutputChecks {
  readonly #checks = new Map<string, Check>();

  /** Learns from a page of `tools/list`. A schema that cannot be used is no reason to refuse the tool (JSCH-006). */
  learn(result: JsonObject): void {
    for (const tool of Array.isArray(result['tools']) ? result['tools'] : []) {
      if (!isJsonObject(tool) || typeof tool['name'] !== 'string') continue;
      const schema = tool['outputSchema'];
      if (isJsonObject(schema) && checkJsonSchema(schema) === undefined) {
        this.#checks.set(tool['name'], compileJsonSchema(schema, `tool ${tool['name']} (output)`, 'peer'));
      } else this.#checks.delete(tool['name']);
    }
  }

  forget(): void {
    this.#checks.clear();
  }

  async check(name: string, result: JsonObject): Promise<void> {
    const check = this.#checks.get(name);
    if (!check || result['isError'] === true || result['resultType'] === 'input_required') return;
    const checked: Checked =
      result['structuredContent'] === undefined
        ? { ok: false, problem: 'there is no structured content' }
        : await this.#run(check, name, result['structuredContent']);
    if (checked.ok) return;
    throw new IsthmusError(
      'INVALID_RESULT',
      `The result of ${name} does not fit the tool's output schema: ${checked.problem}`,
      { sent: 'maybe' },
    );
  }

  /** What cannot be checked is refused, not let through (JSCH-009, JSCH-010). */
  async #run(check: Check, name: string, value: unknown): Promise<Checked> {
    try {
      return await check(value);
    } catch (error) {
      const message = `The result of ${name} cannot be checked: ${messageOf(error)}`;
      throw new IsthmusError('INVALID_RESULT', message, { sent: 'maybe', cause: error });
    }
  }
}

type Check = ReturnType<typeof compileJsonSchema>;

/**
 * A result without its main part is no result: it is refused here, where the server can be named, and not by
 * a TypeError somewhere in the caller's code.
 */
export function checkShape(method: string, result: JsonObject): void {
  const shape = SHAPES.get(method);
  if (!shape || result['resultType'] === 'input_required') return;
  const { member, isFine } = shape;
  if (isFine(result[member])) return;
  throw new IsthmusError('INVALID_RESULT', `${method} was answered without ${member}`, { sent: 'maybe' });
}

const SHAPES: ReadonlyMap<string, { member: string; isFine: (value: unknown) => boolean }> = new Map([
  ['tools/list', { member: 'tools', isFine: Array.isArray }],
  ['resources/list', { member: 'resources', isFine: Array.isArray }],
  ['resources/templates/list', { member: 'resourceTemplates', isFine: Array.isArray }],
  ['prompts/list', { member: 'prompts', isFine: Array.isArray }],
  ['resources/read', { member: 'contents', isFine: Array.isArray }],
  ['prompts/get', { member: 'messages', isFine: Array.isArray }],
  [
    'completion/complete',
    { member: 'completion', isFine: (value) => isJsonObject(value) && Array.isArray(value['values']) },
  ],
]);

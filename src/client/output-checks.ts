import { IsthmusError } from '../errors.js';
import { type Checked, compileJsonSchema } from '../schema/json-schema.js';
import { checkJsonSchema } from '../schema/json-schema-shape.js';
import { isJsonObject, type JsonObject } from '../wire/json-rpc.js';

/** Holds servers to the output schemas of their tools, as far as their lists have been read. */
export class OutputChecks {
  readonly #checks = new Map<string, (value: unknown) => Checked | Promise<Checked>>();

  /** Learns from a page of `tools/list`. A schema that cannot be used is no reason to refuse the tool (JSCH-006). */
  learn(result: JsonObject): void {
    for (const tool of Array.isArray(result['tools']) ? result['tools'] : []) {
      if (!isJsonObject(tool) || typeof tool['name'] !== 'string') continue;
      const schema = tool['outputSchema'];
      if (isJsonObject(schema) && checkJsonSchema(schema) === undefined) {
        this.#checks.set(tool['name'], compileJsonSchema(schema, `tool ${tool['name']} (output)`));
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
        : await check(result['structuredContent']);
    if (checked.ok) return;
    throw new IsthmusError(
      'INVALID_RESULT',
      `The result of ${name} does not fit the tool's output schema: ${checked.problem}`,
      { sent: 'maybe' },
    );
  }
}

import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { CheckContext } from '../../run/check-context.js';
import type { WalkthroughStop } from '../../survey/facts.js';

/** All tools of the server. Skips if there are none. */
export function needTools(context: CheckContext): readonly JsonObject[] {
  context.needCapability('tools');
  if (context.facts.tools.length === 0) context.skip('the server has no tools');
  return context.facts.tools;
}

/** Judges every tool, and fails with the first few faults. */
export async function judgeEach(
  context: CheckContext,
  judge: (tool: JsonObject) => string | undefined | Promise<string | undefined>,
  expected: string,
): Promise<string> {
  const tools = needTools(context);
  const wrong: string[] = [];
  for (const tool of tools) {
    const problem = await judge(tool);
    if (problem !== undefined) wrong.push(`${nameOf(tool)}: ${problem}`);
  }
  if (wrong.length > 0) context.fail(summary(wrong), expected);
  return `${tools.length} tools checked`;
}

export function summary(wrong: readonly string[]): string {
  const more = wrong.length > SHOWN ? `; and ${wrong.length - SHOWN} more` : '';
  return `${wrong.slice(0, SHOWN).join('; ')}${more}`;
}

const SHOWN = 3;

export function nameOf(tool: JsonObject): string {
  return typeof tool['name'] === 'string' ? tool['name'] : JSON.stringify(tool['name'] ?? null);
}

/** The results of the tool calls of the survey. Skips if there are none. */
export function needCalls(
  context: CheckContext,
): readonly { stop: WalkthroughStop; tool: JsonObject; result: JsonObject }[] {
  needTools(context);
  const calls = context.facts.walkthrough.flatMap((stop) => {
    const { reply } = stop;
    const tool = context.facts.tools.find((each) => each['name'] === stop.params['name']);
    if (stop.method !== 'tools/call' || reply.kind !== 'result' || !tool) return [];
    return reply.result['resultType'] === 'input_required' ? [] : [{ stop, tool, result: reply.result }];
  });
  if (calls.length === 0) {
    const why = context.facts.objections[0];
    context.skip(`no tool was called${why === undefined ? ' to its end' : `: ${why}`}`);
  }
  return calls;
}

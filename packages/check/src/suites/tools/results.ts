import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Check } from '../../model.js';
import { complaintText, judgeResult, type Revision } from '../../shapes/index.js';
import { stackTraceIn } from '../stack-traces.js';
import { nameOf, needCalls, summary } from './each-tool.js';
import { problemOfValue } from './validator.js';

/** The results of the tool calls of the survey. */
export const toolResultChecks: readonly Check[] = [
  {
    id: 'tools/calls-survived',
    suite: 'tools',
    title: 'Keeps running after its tools were called',
    level: 'SHOULD',
    rules: ['TOOL-017'],
    reason: 'A call that ends the server also ends the work of all other clients.',
    hint: 'Catch the errors of a tool, and answer with isError. Set destructiveHint: true on a tool that ends the server on purpose. Then it is not called.',
    run(context) {
      const { killedBy, walkthrough } = context.facts;
      const calls = walkthrough.filter(({ method }) => method === 'tools/call');
      if (killedBy !== undefined) {
        const args = calls.find(({ params }) => params['name'] === killedBy)?.params['arguments'];
        context.fail(
          `tools/call of ${killedBy} with ${JSON.stringify(args)} ended the server; it was the last call`,
          'an answer, and a running server',
        );
      }
      if (calls.length === 0) context.skip('no tool was called');
      return `${calls.length} calls, and the server is still running`;
    },
  },
  {
    id: 'tools/results-well-formed',
    suite: 'tools',
    title: 'Answers tools/call with well-formed content',
    level: 'MUST',
    rules: ['TOOL-016'],
    hint: 'A result has an array content of text, image, audio, resource_link and resource blocks. It may be empty.',
    run(context) {
      const calls = needCalls(context);
      const wrong = calls.flatMap(({ tool, result }) =>
        judgeResult('tools/call', result, context.revision as Revision).map(
          (each) => `${nameOf(tool)}: ${complaintText(each)}`,
        ),
      );
      if (wrong.length > 0) context.fail(summary(wrong), 'content as the revision has it');
      return `${calls.length} results`;
    },
  },
  {
    id: 'tools/output-matches-schema',
    suite: 'tools',
    title: 'Returns structuredContent that matches the outputSchema',
    level: 'MUST',
    rules: ['TOOL-012'],
    hint: 'Return structuredContent that validates, or correct the outputSchema.',
    async run(context) {
      const calls = needCalls(context).filter(
        ({ tool, result }) => tool['outputSchema'] !== undefined && result['isError'] !== true,
      );
      if (calls.length === 0) context.skip('no tool with an outputSchema returned a result');
      const wrong: string[] = [];
      for (const { tool, result } of calls) {
        if (result['structuredContent'] === undefined)
          wrong.push(`${nameOf(tool)} returned no structuredContent`);
        else {
          const problem = await problemOfValue(tool['outputSchema'], result['structuredContent']);
          if (problem !== undefined) wrong.push(`${nameOf(tool)}: structuredContent ${problem}`);
        }
      }
      if (wrong.length > 0) context.fail(summary(wrong), 'structuredContent that matches the schema');
      return `${calls.length} structured results`;
    },
  },
  {
    id: 'tools/structured-also-as-text',
    suite: 'tools',
    title: 'Repeats a structured result as JSON in a text block',
    level: 'SHOULD',
    rules: ['TOOL-014'],
    hint: 'Add `{ "type": "text", "text": JSON.stringify(structuredContent) }`: old clients read only that.',
    run(context) {
      const calls = needCalls(context).filter(({ result }) => result['structuredContent'] !== undefined);
      if (calls.length === 0) context.skip('no result has structuredContent');
      const wrong = calls
        .filter(({ result }) => !repeatsAsText(result))
        .map(({ tool }) => `${nameOf(tool)} has no text with its structuredContent`);
      if (wrong.length > 0) context.fail(summary(wrong), 'the same value as JSON text');
      return `${calls.length} structured results`;
    },
  },
  {
    id: 'tools/structured-is-object',
    suite: 'tools',
    title: 'Gives legacy clients only objects as structuredContent',
    level: 'MUST',
    rules: ['TOOL-008'],
    era: 'legacy',
    hint: 'Wrap other values in an object, or put them into a text block.',
    run(context) {
      const calls = needCalls(context).filter(({ result }) => result['structuredContent'] !== undefined);
      if (calls.length === 0) context.skip('no result has structuredContent');
      const wrong = calls
        .filter(({ result }) => !isJsonObject(result['structuredContent']))
        .map(
          ({ tool, result }) =>
            `${nameOf(tool)}: structuredContent is ${JSON.stringify(result['structuredContent'])?.slice(0, 60)}`,
        );
      if (wrong.length > 0) context.fail(summary(wrong), 'an object');
      return `${calls.length} structured results`;
    },
  },
  {
    id: 'tools/embedding-needs-resources',
    suite: 'tools',
    title: 'Announces resources when its tools embed them',
    level: 'SHOULD',
    rules: ['TOOL-025'],
    hint: 'Announce the capability resources, or return the content as text.',
    run(context) {
      const embedding = needCalls(context).filter(({ result }) =>
        contentOf(result).some(({ type }) => type === 'resource'),
      );
      if (embedding.length === 0) context.skip('no result embeds a resource');
      if (context.facts.capabilities['resources'] === undefined) {
        context.fail(
          `${embedding.map(({ tool }) => nameOf(tool)).join(', ')} embeds a resource, but resources is not announced`,
          'the capability resources',
        );
      }
      return `${embedding.length} results with resources`;
    },
  },
  {
    id: 'tools/errors-say-something',
    suite: 'tools',
    title: 'Explains the failure in a result with isError',
    level: 'SHOULD',
    rules: [],
    reason: 'A model needs the reason to correct its call.',
    hint: 'Put the reason into a text block.',
    run(context) {
      const failed = needCalls(context).filter(({ result }) => result['isError'] === true);
      if (failed.length === 0) context.skip('no call failed');
      const mute = failed.filter(
        ({ result }) => !contentOf(result).some(({ text }) => typeof text === 'string' && text.trim() !== ''),
      );
      if (mute.length > 0)
        context.fail(
          `${mute.map(({ tool }) => nameOf(tool)).join(', ')} failed without an explanation`,
          'a text with the reason',
        );
      return `${failed.length} failures with a reason`;
    },
  },
  {
    id: 'tools/failures-are-results',
    suite: 'tools',
    title: 'Reports a tool that fails as a result with isError, not as a JSON-RPC error',
    level: 'SHOULD',
    rules: ['TOOL-017'],
    hint: 'Catch the errors of the tool and return `{ isError: true, content: [...] }`.',
    run(context) {
      const calls = context.facts.walkthrough.filter(({ method }) => method === 'tools/call');
      if (calls.length === 0)
        context.skip(
          `no tool was called${context.facts.objections[0] === undefined ? '' : `: ${context.facts.objections[0]}`}`,
        );
      const failed = calls.filter(
        ({ reply }) =>
          reply.kind === 'error' || (reply.kind === 'result' && reply.result['isError'] === true),
      );
      if (failed.length === 0) context.skip('no tool failed');
      const wrong = failed.flatMap(({ params, reply }) =>
        reply.kind === 'error' && (reply.error.code === -32603 || reply.error.code > -32000)
          ? [`${String(params['name'])}: error ${reply.error.code}: ${reply.error.message.slice(0, 100)}`]
          : [],
      );
      if (wrong.length > 0) context.fail(summary(wrong), 'a result with isError');
      return `${failed.length} failures`;
    },
  },
  {
    id: 'tools/errors-leak-nothing',
    suite: 'tools',
    title: 'Keeps stack traces out of errors and results',
    level: 'SHOULD',
    rules: [],
    reason: 'A stack trace reveals paths and code to every caller, and does not help a model.',
    hint: 'Send the message of the error, and log the stack.',
    run(context) {
      const texts = context.facts.walkthrough.flatMap(({ method, params, reply }) => {
        const about = `${method} ${String(params['name'] ?? params['uri'])}`;
        if (reply.kind === 'error')
          return [[about, `${reply.error.message}\n${JSON.stringify(reply.error.data ?? '')}`] as const];
        if (reply.kind !== 'result' || reply.result['isError'] !== true) return [];
        return contentOf(reply.result).map(({ text }) => [about, String(text ?? '')] as const);
      });
      if (texts.length === 0) context.skip('nothing failed');
      const leaking = texts
        .filter(([, text]) => stackTraceIn(text) !== undefined)
        .map(([about]) => `${about} shows a stack trace`);
      if (leaking.length > 0) context.fail(summary(leaking), 'a message without internals');
      return `${texts.length} errors read`;
    },
  },
];

function contentOf(result: JsonObject): readonly JsonObject[] {
  return Array.isArray(result['content']) ? result['content'].filter(isJsonObject) : [];
}

function repeatsAsText(result: JsonObject): boolean {
  const wanted = JSON.stringify(result['structuredContent']);
  return contentOf(result).some(({ text }) => {
    if (typeof text !== 'string') return false;
    try {
      return JSON.stringify(JSON.parse(text)) === wanted;
    } catch {
      // A plain string is equal to a structured string.
      return text === result['structuredContent'];
    }
  });
}

import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { answerInstead, changeAnswer, changeResult } from '../../support/suites/change-answers.js';
import type { AnyMutant, Middle } from '../../support/suites/mutant.js';

/** Changes one tool of the list. */
function changeTool(name: string, change: (tool: JsonObject) => JsonObject): () => Middle {
  return changeResult('tools/list', (result) => ({
    ...result,
    tools: (result['tools'] as JsonObject[]).map((tool) => (tool['name'] === name ? change(tool) : tool)),
  }));
}

/** Changes what one tool gives back. */
function changeCall(
  name: string,
  change: (result: JsonObject, params: JsonObject) => JsonObject,
): () => Middle {
  return changeResult('tools/call', (result, params) =>
    params['name'] === name ? change(result, params) : result,
  );
}

function changeSchema(name: string, schema: JsonObject): () => Middle {
  return changeTool(name, (tool) => ({
    ...tool,
    inputSchema: { ...(tool['inputSchema'] as JsonObject), ...schema },
  }));
}

/** Does not announce what it has. */
function withoutCapability(name: string): () => Middle {
  const strip = (result: JsonObject) => {
    const { [name]: _gone, ...capabilities } = result['capabilities'] as JsonObject;
    return { ...result, capabilities };
  };
  return () => {
    const first = changeResult('server/discover', strip)();
    const second = changeResult('initialize', strip)();
    return {
      incoming: (message, io) => second.incoming!(first.incoming!(message, io) as JsonObject, io),
      outgoing: (message, io) => second.outgoing!(first.outgoing!(message, io) as JsonObject, io),
    };
  };
}

/** Runs whatever it is given. */
const runsAnything = changeAnswer('tools/call', (answer, request) => {
  const { name } = request['params'] as JsonObject;
  const failed =
    answer['error'] !== undefined || (answer['result'] as JsonObject | undefined)?.['isError'] === true;
  if (!failed || name === 'test_error_handling') return answer;
  return {
    jsonrpc: '2.0',
    id: answer['id'],
    result: { resultType: 'complete', content: [{ type: 'text', text: 'fine' }] },
  };
});

export const toolMutants: readonly AnyMutant[] = [
  {
    check: 'tools/declared',
    fault: 'has tools and does not announce them',
    middle: withoutCapability('tools'),
  },
  {
    check: 'tools/list-answered',
    fault: 'announces tools and does not know tools/list',
    seen: /-32601/,
    middle: answerInstead('tools/list', () => ({ error: { code: -32601, message: 'Method not found' } })),
  },
  {
    check: 'tools/same-everywhere',
    fault: 'has another tool on every connection',
    seen: /echo_\d+ is not there/,
    middle: () => {
      connections += 1;
      const name = `echo_${connections}`;
      return changeTool('echo', (tool) => ({ ...tool, name }))();
    },
    era: 'modern',
  },
  {
    check: 'tools/same-after-calls',
    fault: 'hides a tool after a call',
    seen: /add is not there/,
    middle: () => {
      let isCalled = false;
      const hide = changeResult('tools/list', (result) => ({
        ...result,
        tools: (result['tools'] as JsonObject[]).filter(({ name }) => !isCalled || name !== 'add'),
      }))();
      return {
        ...hide,
        incoming(message, io) {
          isCalled ||= message['method'] === 'tools/call';
          return hide.incoming!(message, io);
        },
      };
    },
  },
  {
    check: 'tools/order-stable',
    fault: 'turns its list round each time',
    middle: () => {
      let turn = 0;
      return changeResult('tools/list', (result) => ({
        ...result,
        tools: turn++ % 2 === 0 ? result['tools'] : [...(result['tools'] as JsonObject[])].reverse(),
      }))();
    },
  },
  {
    check: 'tools/names-unique',
    fault: 'has two tools of one name',
    seen: /echo/,
    middle: changeTool('add', (tool) => ({ ...tool, name: 'echo' })),
  },
  {
    check: 'tools/names-usable',
    fault: 'has a space in a name',
    seen: /echo me/,
    middle: changeTool('echo', (tool) => ({ ...tool, name: 'echo me' })),
  },
  {
    check: 'tools/read-only-is-honest',
    fault: 'changes its tools when one that only reads is called',
    middle: () => {
      let isCalled = false;
      const add = changeResult('tools/list', (result) => ({
        ...result,
        tools: isCalled
          ? [...(result['tools'] as JsonObject[]), { name: 'surprise', inputSchema: { type: 'object' } }]
          : result['tools'],
      }))();
      return {
        ...add,
        incoming(message, io) {
          isCalled ||= message['method'] === 'tools/call';
          return add.incoming!(message, io);
        },
      };
    },
  },
  {
    check: 'tools/input-schema-is-object',
    fault: 'has an array for arguments',
    seen: /"array"/,
    middle: changeSchema('echo', { type: 'array' }),
  },
  {
    check: 'tools/schemas-valid',
    fault: 'has a type that JSON Schema does not know',
    seen: /inputSchema/,
    middle: changeSchema('echo', { properties: { text: { type: 'text' } } }),
  },
  {
    check: 'tools/schemas-valid',
    fault: 'has an output schema that is none',
    seen: /outputSchema/,
    middle: changeTool('add', (tool) => ({ ...tool, outputSchema: { type: 'object', required: 'sum' } })),
  },
  {
    check: 'tools/dialect-common',
    fault: 'writes its schemas in draft-04',
    seen: /draft-04/,
    middle: changeSchema('echo', { $schema: 'http://json-schema.org/draft-04/schema#' }),
  },
  {
    check: 'tools/no-references-to-the-network',
    fault: 'refers to a schema on the network',
    seen: /example\.com/,
    middle: changeSchema('echo', { properties: { text: { $ref: 'https://example.com/text.json' } } }),
  },
  {
    check: 'tools/output-schema-is-object',
    fault: 'has an array for output',
    era: 'legacy',
    middle: changeTool('add', (tool) => ({ ...tool, outputSchema: { type: 'array' } })),
  },
  {
    check: 'tools/header-annotations-valid',
    fault: 'wants an object as a header',
    middle: changeSchema('echo', { properties: { text: { type: 'object', 'x-mcp-header': 'Text' } } }),
  },
  {
    check: 'tools/header-annotations-valid',
    fault: 'wants a header for integers that no client can hold',
    seen: /maximum 9007199254740992/,
    middle: changeSchema('echo', {
      properties: { text: { type: 'integer', maximum: 2 ** 53, 'x-mcp-header': 'Text' } },
    }),
  },
  {
    check: 'tools/required-are-described',
    fault: 'requires what it does not describe',
    seen: /colour/,
    middle: changeSchema('echo', { required: ['text', 'colour'] }),
  },
  {
    check: 'tools/defaults-fit',
    fault: 'has a number for the default of a text',
    seen: /the default of text/,
    middle: changeSchema('echo', { properties: { text: { type: 'string', default: 5 } } }),
  },
  {
    check: 'tools/described',
    fault: 'does not describe a tool',
    middle: changeTool('echo', ({ description: _description, ...tool }) => tool),
  },
  {
    check: 'tools/descriptions-differ',
    fault: 'describes two tools alike',
    seen: /echo and add|add and echo/,
    middle: changeTool('add', (tool) => ({ ...tool, description: 'Gives back the text it got' })),
  },
  {
    check: 'tools/descriptions-bounded',
    fault: 'tells a novel',
    middle: changeTool('echo', (tool) => ({ ...tool, description: 'word '.repeat(5000) })),
  },
  {
    check: 'tools/no-hidden-text',
    fault: 'hides instructions in tag characters',
    seen: /U\+E0041/,
    middle: changeTool('echo', (tool) => ({ ...tool, description: 'Echo\u{e0041}\u{e0042}' })),
  },
  {
    check: 'tools/no-hidden-text',
    fault: 'turns the direction of a text',
    seen: /U\+202E/,
    middle: changeTool('echo', (tool) => ({ ...tool, description: 'Echo \u202e drawkcab' })),
  },
  {
    check: 'tools/arguments-described',
    fault: 'says nothing about an argument',
    seen: /echo: no description of text/,
    middle: changeSchema('echo', { properties: { text: { type: 'string' } } }),
  },
  {
    check: 'tools/annotations-agree',
    fault: 'only reads and destroys',
    middle: changeTool('echo', (tool) => ({
      ...tool,
      annotations: { readOnlyHint: true, destructiveHint: true },
    })),
  },
  {
    check: 'tools/annotations-are-hints',
    fault: 'says "yes" where true is meant',
    seen: /"yes"/,
    middle: changeTool('echo', (tool) => ({
      ...tool,
      annotations: { readOnlyHint: true, idempotentHint: 'yes' },
    })),
  },
  {
    check: 'tools/results-well-formed',
    fault: 'gives a text where content belongs',
    seen: /content/,
    middle: changeCall('echo', (result) => ({ ...result, content: 'hello' })),
  },
  {
    check: 'tools/output-matches-schema',
    fault: 'gives a text where its schema has a number',
    seen: /structuredContent/,
    middle: changeCall('add', (result) => ({ ...result, structuredContent: { sum: 'two' } })),
  },
  {
    check: 'tools/output-matches-schema',
    fault: 'has an output schema and gives nothing structured',
    seen: /add returned no structuredContent/,
    middle: changeCall('add', ({ structuredContent: _content, ...result }) => result),
  },
  {
    check: 'tools/structured-also-as-text',
    fault: 'gives a structured result without its text',
    middle: changeCall('add', (result) => ({ ...result, content: [] })),
  },
  {
    check: 'tools/structured-is-object',
    fault: 'gives legacy clients a number',
    era: 'legacy',
    middle: changeCall('add', (result) => ({ ...result, structuredContent: 2 })),
  },
  {
    check: 'tools/embedding-needs-resources',
    fault: 'embeds resources and does not announce them',
    middle: withoutCapability('resources'),
  },
  {
    check: 'tools/errors-say-something',
    fault: 'fails without a word',
    seen: /test_error_handling/,
    middle: changeCall('test_error_handling', (result) => ({ ...result, content: [] })),
  },
  {
    check: 'tools/failures-are-results',
    fault: 'answers a tool that fails with an error',
    seen: /-32603/,
    middle: changeAnswer('tools/call', (answer) => {
      const { result } = answer;
      if (!isJsonObject(result) || result['isError'] !== true) return answer;
      return { jsonrpc: '2.0', id: answer['id'], error: { code: -32603, message: 'Internal error' } };
    }),
  },
  {
    check: 'tools/errors-leak-nothing',
    fault: 'shows its stack',
    middle: changeCall('test_error_handling', (result) => ({
      ...result,
      content: [{ type: 'text', text: 'Error: no\n    at run (/srv/app/tool.js:10:5)' }],
    })),
  },
  {
    check: 'tools/unknown-tool',
    fault: 'runs tools that it does not have',
    seen: /fine/,
    middle: runsAnything,
  },
  {
    check: 'tools/call-without-name',
    fault: 'answers a call without a name with an internal error',
    seen: /-32603/,
    middle: changeAnswer('tools/call', (answer) =>
      answer['error']
        ? { ...answer, error: { code: -32603, message: 'Cannot read properties of undefined' } }
        : answer,
    ),
  },
  { check: 'tools/inputs-validated', fault: 'runs a tool with anything', seen: /fine/, middle: runsAnything },
  {
    check: 'tools/invalid-arguments-are-results',
    fault: 'answers wrong arguments with an error',
    middle: changeAnswer('tools/call', (answer) => {
      const { result } = answer;
      if (!isJsonObject(result) || result['isError'] !== true) return answer;
      return { jsonrpc: '2.0', id: answer['id'], error: { code: -32602, message: 'Invalid arguments' } };
    }),
  },
  {
    check: 'tools/missing-argument-refused',
    fault: 'runs a tool without its argument',
    middle: runsAnything,
  },
  {
    check: 'tools/surplus-argument-refused',
    fault: 'runs a tool with what its schema excludes',
    middle: runsAnything,
  },
  {
    check: 'tools/arguments-optional',
    fault: 'stumbles over missing arguments',
    middle: () => ({
      incoming(message, io) {
        const params = message['params'] as JsonObject | undefined;
        if (message['method'] !== 'tools/call' || !params || 'arguments' in params) return message;
        io.reply({
          jsonrpc: '2.0',
          id: message['id'],
          error: { code: -32602, message: 'arguments: Required' },
        });
        return undefined;
      },
    }),
  },
];

let connections = 0;

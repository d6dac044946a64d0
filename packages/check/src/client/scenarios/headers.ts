import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Scenario } from '../model.js';
import { cacheable, complete, ECHO, modern, textResult } from './base-servers.js';

/** A tool whose arguments are repeated in headers, with arguments for every case. */
export const PARAM_TOOL: JsonObject = {
  name: 'echo',
  description: 'Returns its arguments.',
  inputSchema: {
    type: 'object',
    properties: {
      region: { type: 'string', 'x-mcp-header': 'Region' },
      city: { type: 'string', 'x-mcp-header': 'City' },
      padded: { type: 'string', 'x-mcp-header': 'Padded' },
      coded: { type: 'string', 'x-mcp-header': 'Coded' },
      count: { type: 'integer', 'x-mcp-header': 'Count' },
      dry: { type: 'boolean', 'x-mcp-header': 'Dry' },
      absent: { type: 'string', 'x-mcp-header': 'Absent' },
      plain: { type: 'string' },
      where: {
        type: 'object',
        properties: { zone: { type: 'string', 'x-mcp-header': 'Zone' } },
      },
    },
  },
};

const PARAM_ARGUMENTS: JsonObject = {
  region: 'us-west1',
  city: 'Zürich',
  padded: ' both ',
  coded: '=?base64?eA==?=',
  count: 42,
  dry: false,
  plain: 'not mirrored',
  where: { zone: 'b' },
};

/** The name says what is wrong with the tool. They are listed before the valid tool. */
const BAD_TOOLS: readonly JsonObject[] = [
  bad('bad-empty', { region: { type: 'string', 'x-mcp-header': '' } }),
  bad('bad-token', { region: { type: 'string', 'x-mcp-header': 'My Region' } }),
  bad('bad-type', { region: { type: 'number', 'x-mcp-header': 'Region' } }),
  bad('bad-twice', {
    region: { type: 'string', 'x-mcp-header': 'Region' },
    other: { type: 'string', 'x-mcp-header': 'REGION' },
  }),
  bad('bad-place', { list: { type: 'array', items: { type: 'string', 'x-mcp-header': 'Item' } } }),
];

/** Modern servers that use headers. */
export const HEADERS: readonly Scenario[] = [
  {
    name: 'param-headers',
    title: 'A modern server whose tool requires its arguments in headers',
    over: ['http'],
    serves: ['modern'],
    steps: [{ do: 'list' }, { do: 'call', name: 'echo', arguments: PARAM_ARGUMENTS }],
    open: () => modern({ tools: [PARAM_TOOL] }),
  },
  {
    name: 'unlisted',
    title: 'A modern server whose tool requires headers, called before it was listed',
    over: ['http'],
    serves: ['modern'],
    steps: [{ do: 'call', name: 'echo', arguments: { region: 'us-west1' } }],
    open: () => modern({ tools: [PARAM_TOOL] }),
  },
  {
    name: 'odd-name',
    title: 'A modern server whose tool has a name that a header cannot hold',
    over: ['http'],
    serves: ['modern'],
    open: () => modern({ tools: [{ ...ECHO, name: 'größe' }] }),
  },
  {
    name: 'bad-annotations',
    title: 'A modern server that lists tools with an invalid x-mcp-header before a valid one',
    over: ['http'],
    serves: ['modern'],
    open: () => modern({ tools: [...BAD_TOOLS, ECHO] }),
  },
  {
    name: 'header-mismatch',
    title: 'A modern server that changes the headers of its tool after it was listed',
    over: ['http'],
    serves: ['modern'],
    steps: [{ do: 'list' }, { do: 'call', name: 'echo', arguments: { region: 'us-west1' } }],
    open: renaming,
  },
  {
    name: 'modern-session-header',
    title: 'A modern server that sends a session id, although it has no session',
    over: ['http'],
    serves: ['modern'],
    open: () =>
      modern({
        on: {
          'server/discover': () => false,
          'tools/list': (turn) =>
            turn.reply(cacheable({ tools: [ECHO] }), { 'mcp-session-id': 'a-session-of-old' }),
        },
      }),
  },
];

function renaming() {
  let renamed = false;
  const tool = () => ({
    name: 'echo',
    description: 'Returns its arguments.',
    inputSchema: {
      type: 'object',
      properties: { region: { type: 'string', 'x-mcp-header': renamed ? 'Place' : 'Region' } },
    },
  });
  return modern({
    on: {
      'tools/list': (turn) => turn.reply(cacheable({ tools: [tool()] })),
      'tools/call'(turn) {
        renamed = true;
        if (turn.headers['mcp-param-place'] !== undefined) turn.reply(complete(textResult('hello')));
        else turn.fail(-32020, 'Header mismatch: Mcp-Param-Place is missing', undefined, 400);
      },
    },
  });
}

function bad(name: string, properties: JsonObject): JsonObject {
  return { name, description: 'Has an invalid schema.', inputSchema: { type: 'object', properties } };
}

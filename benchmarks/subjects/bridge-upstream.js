/**
 * The server behind every bridge: as lean as the bare loop, so that the bridge is what is measured, but with all
 * that a bridge may ask for at its start. Tools: `echo`, and `large`, whose text of 5 MB is encoded once.
 *
 * Arguments: `legacy`, it knows the legacy era only. `tools=N`, it has N tools and does not allow to keep the list.
 * `asks`, every call asks a person with `elicitation/create`, and ends when that is answered (legacy only).
 * `changes`, its list of tools may change. `silent-on=METHOD`, it does not answer that method; `silent-on=*`, it does not answer at all.
 */

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const SUBSCRIPTION_KEY = 'io.modelcontextprotocol/subscriptionId';
const SERVER_INFO = { name: 'upstream', version: '0.0.0' };
const MODERN_META = { 'io.modelcontextprotocol/serverInfo': SERVER_INFO };
const CAPABILITIES = { tools: process.argv.includes('changes') ? { listChanged: true } : {} };
const NEWLINE = 10;
const LARGE_BYTES = 5_000_000;
const KNOWS_MODERN = !process.argv.includes('legacy');

const toolCount = Number(argument('tools'));
const silentOn = argument('silent-on');
const ASKS = process.argv.includes('asks');
const LIST_TTL_MS = toolCount > 0 ? 0 : 3_600_000;
/** @type {Map<string, string | number>} calls by the id of their question */
const asked = new Map();

const inputSchema = { type: 'object', properties: { text: { type: 'string' } } };
const TOOLS =
  toolCount > 0
    ? Array.from({ length: toolCount }, (_, at) => typicalTool(at))
    : [
        { name: 'echo', description: 'Returns the text it is given.', inputSchema },
        { name: 'large', description: 'Returns 5 MB of text.', inputSchema },
      ];

/** @type {string | undefined} JSON of the content of `large` */
let largeContent;
/** @type {Buffer[]} the pieces of a line whose end has not arrived */
let pending = [];

process.stdin.on('data', (/** @type {Buffer} */ chunk) => {
  const end = chunk.lastIndexOf(NEWLINE);
  if (end === -1) {
    pending.push(chunk);
    return;
  }
  let lines = chunk.subarray(0, end);
  if (pending.length > 0) {
    pending.push(lines);
    lines = Buffer.concat(pending);
    pending = [];
  }
  if (end + 1 < chunk.length) pending.push(chunk.subarray(end + 1));

  let answers = '';
  for (const line of lines.toString('utf8').split('\n')) {
    const message = JSON.parse(line);
    if (silentOn === '*' || (silentOn !== undefined && message.method === silentOn)) continue;
    if (message.method === undefined) answers += endOf(message.id);
    else if (message.id !== undefined) answers += `${answer(message)}\n`;
  }
  if (answers !== '') process.stdout.write(answers);
});

/** @param {{ id: string | number, method: string, params?: Record<string, any> }} request */
function answer({ id, method, params }) {
  const modern = KNOWS_MODERN && params?._meta?.[VERSION_KEY] !== undefined;
  const complete = (/** @type {object} */ result) =>
    JSON.stringify({
      jsonrpc: '2.0',
      id,
      result: modern ? { resultType: 'complete', ...result, _meta: MODERN_META } : result,
    });
  switch (method) {
    case 'tools/call':
      if (ASKS) return question(id);
      return params?.name === 'large'
        ? `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{${modern ? '"resultType":"complete",' : ''}"content":${large()}}}`
        : complete({ content: [{ type: 'text', text: params?.arguments.text }] });
    case 'tools/list':
      return complete(modern ? { tools: TOOLS, ttlMs: LIST_TTL_MS, cacheScope: 'public' } : { tools: TOOLS });
    case 'initialize':
      return complete({
        protocolVersion: params?.protocolVersion ?? '2025-11-25',
        capabilities: CAPABILITIES,
        serverInfo: SERVER_INFO,
      });
    case 'ping':
      return complete({});
    case 'server/discover':
      if (!modern) break;
      return complete({
        supportedVersions: ['2026-07-28'],
        capabilities: CAPABILITIES,
        ttlMs: 3_600_000,
        cacheScope: 'public',
      });
    case 'subscriptions/listen':
      if (!modern) break;
      return JSON.stringify({
        jsonrpc: '2.0',
        method: 'notifications/subscriptions/acknowledged',
        params: { _meta: { [SUBSCRIPTION_KEY]: id }, notifications: {} },
      });
  }
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } });
}

/**
 * The call waits until its question is answered.
 * @param {string | number} id of the call
 */
function question(id) {
  const questionId = `question-${asked.size}`;
  asked.set(questionId, id);
  const requestedSchema = { type: 'object', properties: { room: { type: 'string' } } };
  const params = { message: 'Which room?', requestedSchema };
  return JSON.stringify({ jsonrpc: '2.0', id: questionId, method: 'elicitation/create', params });
}

/** @param {string} questionId */
function endOf(questionId) {
  const id = asked.get(questionId);
  const result = { content: [{ type: 'text', text: 'done' }] };
  return id === undefined ? '' : `${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`;
}

/** @param {string} name */
function argument(name) {
  return process.argv.find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1);
}

/**
 * A tool as servers in use have them: about 700 bytes.
 * @param {number} at
 */
function typicalTool(at) {
  const text = (/** @type {string} */ what) => ({
    type: 'string',
    description: `The ${what} to use, as a plain text`,
  });
  return {
    name: at === 0 ? 'echo' : `search_records_${at}`,
    title: `Search records ${at}`,
    description:
      'Searches the records of a project. Returns the records that match, newest first, with their ids.',
    inputSchema: {
      type: 'object',
      properties: {
        text: text('query'),
        project: text('project'),
        state: { type: 'string', enum: ['open', 'closed', 'all'], default: 'open' },
        limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
        labels: { type: 'array', items: { type: 'string' } },
      },
      required: ['text'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true, openWorldHint: true },
  };
}

function large() {
  if (largeContent === undefined) {
    const line = 'The quick brown fox jumps over the lazy dog, and the dog says "well jumped".\n';
    const text = line.repeat(Math.ceil(LARGE_BYTES / line.length)).slice(0, LARGE_BYTES);
    largeContent = JSON.stringify([{ type: 'text', text }]);
  }
  return largeContent;
}

/**
 * The well-behaved part of the fixture servers: lines of JSON on stdin and stdout, one or both eras, a tool
 * `echo {text}`. It depends on nothing, least of all on the code under test. What a fixture does badly, it does
 * itself, with the options below.
 *
 * Options of `serveLines`:
 * - `eras`      'legacy', 'modern' or 'dual' (default)
 * - `versions`  the modern revisions it takes; default ['2026-07-28']
 * - `legacyVersions` the revisions that `initialize` may choose from, newest first
 * - `tools`     name → (args, request) => text, whole result, or a promise of either; NO_ANSWER answers nothing.
 *               `request` is the message; a thrown `WireError` becomes an error answer.
 * - `list`      replaces the tool list: (params, modern) => members of the result
 * - `intercept` sees every message first; true means that it has dealt with it
 * - `onAnswer`  replaces the writing of an answer: (message) => void
 * - `onEnd`     what happens at the end of the input; default: exit with code 0 when what was said has left
 */

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities';
const SERVER_INFO_KEY = 'io.modelcontextprotocol/serverInfo';

export const MODERN = '2026-07-28';
export const LEGACY = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
export const NO_ANSWER = Symbol('no answer');
/** Fixtures that refuse to die do so for at most this long: a failed test must not leave them for ever. */
export const LIFE_LIMIT_MS = 120_000;

export class WireError extends Error {
  constructor(code, message, data) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** Starts reading. Gives what a fixture needs to speak for itself. */
export function serveLines({
  name = 'fixture',
  eras = 'dual',
  versions = [MODERN],
  legacyVersions = LEGACY,
  tools = {},
  list,
  intercept = () => false,
  onAnswer = send,
  onEnd = exitWhenFlushed,
} = {}) {
  const serverInfo = { name, version: '1.0.0' };
  const allTools = { echo: ({ text }) => String(text), ...tools };
  const listTools = list ?? (() => ({ tools: Object.keys(allTools).map(toolDefinition) }));
  const speaksLegacy = eras !== 'modern';
  const speaksModern = eras !== 'legacy';
  const asked = new Map();
  let nextId = 1;
  let initialized = false;

  const server = { send, sendLine, ask, answer, fail, isInitialized: () => initialized };
  // A client that is gone is no reason to write a stack trace.
  process.stdout.on('error', () => process.exit(0));
  process.stderr.on('error', () => {});
  readLines((line) => {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      process.stderr.write(`not JSON: ${line.slice(0, 200)}\n`);
      return;
    }
    if (!intercept(message, server)) receive(message);
  }, onEnd);
  return server;

  function receive(message) {
    if (message.method === undefined) {
      asked.get(message.id)?.(message);
      asked.delete(message.id);
    } else if (message.id !== undefined) {
      handle(message).then(
        (result) => result === NO_ANSWER || answer(message, result),
        (error) => fail(message.id, error.code ?? -32603, error.message, error.data),
      );
    }
  }

  async function handle(message) {
    const { method, params = {} } = message;
    if (method === 'initialize' && !isModern(message)) return initialize(params);
    if (isModern(message) && speaksModern) checkEnvelope(params._meta);
    else if (!speaksLegacy) throw new WireError(-32602, `_meta has no ${VERSION_KEY}`);
    else if (method === 'ping') return {};
    else if (method === 'server/discover') throw new WireError(-32601, `Method not found: ${method}`);
    else if (!initialized) throw new WireError(-32600, `${method} before initialize`);

    switch (method) {
      case 'server/discover':
        return { supportedVersions: versions, capabilities: { tools: {} }, ...FRESHNESS };
      case 'tools/list':
        return { ...listTools(params, isModern(message)), ...(isModern(message) && FRESHNESS) };
      case 'tools/call': {
        const tool = Object.hasOwn(allTools, params.name) ? allTools[params.name] : undefined;
        if (!tool) throw new WireError(-32602, `Unknown tool: ${params.name}`);
        const result = await tool(params.arguments ?? {}, message, server);
        return typeof result === 'string' ? { content: [{ type: 'text', text: result }] } : result;
      }
      default:
        throw new WireError(-32601, `Method not found: ${method}`);
    }
  }

  function initialize({ protocolVersion }) {
    if (!speaksLegacy) throw unsupported(versions, protocolVersion);
    initialized = true;
    return {
      protocolVersion: legacyVersions.includes(protocolVersion) ? protocolVersion : legacyVersions[0],
      capabilities: { tools: {} },
      serverInfo,
    };
  }

  function checkEnvelope(meta) {
    if (!versions.includes(meta[VERSION_KEY])) throw unsupported(versions, meta[VERSION_KEY]);
    if (typeof meta[CAPABILITIES_KEY] !== 'object') {
      throw new WireError(-32602, `_meta has no ${CAPABILITIES_KEY}`);
    }
  }

  /** A request to a legacy client. Its ids are small numbers on purpose: they collide with the client's own. */
  function ask(method, params) {
    const id = nextId++;
    return new Promise((resolve) => {
      asked.set(id, ({ result, error }) => resolve(error ? { error } : result));
      send({ jsonrpc: '2.0', id, method, ...(params && { params }) });
    });
  }

  function answer(request, result) {
    const envelope = { resultType: 'complete', _meta: { [SERVER_INFO_KEY]: serverInfo } };
    const modern = isModern(request) && speaksModern;
    onAnswer(
      { jsonrpc: '2.0', id: request.id, result: modern ? { ...envelope, ...result } : result },
      server,
    );
  }

  function fail(id, code, message, data) {
    onAnswer({ jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } }, server);
  }
}

export function unsupported(supported, requested) {
  return new WireError(-32022, 'Unsupported protocol version', { supported, requested });
}

export function isModern(message) {
  return message.params?._meta?.[VERSION_KEY] !== undefined;
}

/** What a modern request says its client can do. */
export function capabilitiesOf(message) {
  return message.params?._meta?.[CAPABILITIES_KEY] ?? {};
}

export function versionOf(message) {
  return message.params?._meta?.[VERSION_KEY];
}

export function toolDefinition(name) {
  const properties = name === 'echo' ? { text: { type: 'string' } } : {};
  return { name, inputSchema: { type: 'object', properties } };
}

/** An argument of the command line that must be one of `choices`; the first is the default. */
export function choice(index, choices) {
  const value = process.argv[index + 2] ?? choices[0];
  if (choices.includes(value)) return value;
  process.stderr.write(`argument ${index + 1} is one of ${choices.join(', ')}, not ${value}\n`);
  process.exit(2);
}

/** Keeps the process alive after its input has ended, but not for ever. */
export function stayAlive() {
  setTimeout(() => process.exit(99), LIFE_LIMIT_MS);
}

function send(message) {
  sendLine(JSON.stringify(message));
}

/** Settles when the line is in the pipe. */
function sendLine(line) {
  return new Promise((resolve) => process.stdout.write(`${line}\n`, resolve));
}

function exitWhenFlushed() {
  process.stdout.write('', () => process.exit(0));
}

function readLines(onLine, onEnd) {
  let pieces = [];
  process.stdin.setEncoding('utf8');
  process.stdin.on('data', (text) => {
    const lines = text.split('\n');
    pieces.push(lines.shift());
    for (const next of lines) {
      const line = pieces.join('').trim();
      pieces = [next];
      if (line !== '') onLine(line);
    }
  });
  process.stdin.on('end', onEnd);
}

const FRESHNESS = { ttlMs: 0, cacheScope: 'private' };

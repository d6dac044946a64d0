import { invalidArgument, kindOf } from '../arguments.js';
import { checkExtensions, checkSettings, type Extensions, TASKS_EXTENSION } from '../era/extensions.js';
import { isLegacyOnly, isModernOnly, methodFacts } from '../era/methods.js';

/** The methods of a server that register something, with their arguments. */
const FORMS = {
  tool: {
    takes: 'name, definition, handler',
    write: ([name]: readonly unknown[]) =>
      `server.tool(${quoted(name, 'name')}, { description, input }, handler)`,
  },
  resource: {
    takes: 'uri, definition, handler',
    write([first, second]: readonly unknown[]) {
      if (isTemplate(second))
        return `server.resourceTemplate(uriTemplate, { name: ${quoted(first, 'name')} }, handler)`;
      const [uri, name] = typeof second === 'string' ? [second, first] : [first, 'name'];
      return `server.resource(${quoted(uri, 'uri')}, { name: ${quoted(name, 'name')} }, handler)`;
    },
  },
  resourceTemplate: {
    takes: 'uriTemplate, definition, handler',
    write: () => "server.resourceTemplate('notes://{id}', { name }, handler)",
  },
  prompt: {
    takes: 'name, definition, handler',
    write: ([name]: readonly unknown[]) =>
      `server.prompt(${quoted(name, 'name')}, { description, arguments }, handler)`,
  },
} as const;

/**
 * Refuses other arguments than a name, a definition and a handler. The official SDK has other orders, which JavaScript
 * would accept, and the first call would fail.
 */
export function checkRegistration(method: keyof typeof FORMS, given: readonly unknown[]): void {
  const [name, definition, handler] = given;
  const isDefinition = typeof definition === 'object' && definition !== null && !Array.isArray(definition);
  if (typeof name === 'string' && isDefinition && typeof handler === 'function' && given.length === 3) return;
  const { takes, write } = FORMS[method];
  const got = given.map(kindOf).join(', ');
  throw invalidArgument(`server.${method} takes (${takes}), got (${got}). Write ${write(given)}`);
}

/** The handler of an update. Registrations check it with the other arguments. */
export function checkHandler(owner: string, handler: unknown): void {
  if (typeof handler === 'function') return;
  throw invalidArgument(`${owner}: the handler must be a function, got ${kindOf(handler)}`);
}

/** Checks what a server announces besides what it has registered. */
export function checkAnnounced(extensions: Extensions | undefined, experimental: unknown): void {
  checkExtensions('createServer', extensions);
  if (extensions?.[TASKS_EXTENSION]) {
    throw invalidArgument(
      `createServer: leave ${TASKS_EXTENSION} out of "extensions". It follows from tools that have "task"`,
    );
  }
  if (experimental !== undefined) checkSettings('createServer', 'experimental', experimental);
}

/** Refuses the methods of the core protocol, which tools, resources and prompts answer. */
export function checkMethod(method: unknown, handler: unknown, surplus: readonly unknown[]): void {
  if (typeof method !== 'string' || method === '' || typeof handler !== 'function' || surplus.length > 0) {
    const got = [method, handler, ...surplus].map(kindOf).join(', ');
    throw invalidArgument(
      `server.method takes (name, handler), got (${got}). Write server.method('com.example/count', (params, ctx) => ({ … }))`,
    );
  }
  const isCore = methodFacts(method) || isLegacyOnly(method) || isModernOnly(method);
  if (isCore || method.startsWith('tasks/') || method.startsWith('notifications/')) {
    throw invalidArgument(
      `server.method: ${method} belongs to the protocol itself. Register tools, resources and prompts, or change calls with server.use(middleware)`,
    );
  }
}

/** A `ResourceTemplate` of the official SDK. */
function isTemplate(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'uriTemplate' in value;
}

function quoted(value: unknown, otherwise: string): string {
  return typeof value === 'string' && value.length <= 200 ? JSON.stringify(value) : otherwise;
}

/** What to write instead of the methods of the official `McpServer` and `Server`. */
const OFFICIAL_METHODS: Readonly<Record<string, string>> = {
  registerTool: 'server.tool(name, { description, input, output }, (args, ctx) => …)',
  registerResource:
    'server.resource(uri, { name }, handler) or server.resourceTemplate(uriTemplate, { name }, handler)',
  registerPrompt: 'server.prompt(name, { description, arguments }, (args, ctx) => …)',
  connect: 'serve(server, stdio())',
  setRequestHandler:
    'server.tool, server.resource and server.prompt, server.method(name, handler) for a method of an extension, or server.use(middleware)',
  sendToolListChanged: 'nothing: the server reports changes by itself',
  sendResourceListChanged: 'nothing: the server reports changes by itself',
  sendPromptListChanged: 'nothing: the server reports changes by itself',
  sendResourceUpdated: 'server.resourceUpdated(uri)',
  sendLoggingMessage: 'ctx.log(level, data) in a handler',
};

/** Adds methods that say what to write instead. They are hidden from lists of members and from the type checker. */
export function explainOfficialMethods<T extends object>(server: T): T {
  for (const [method, instead] of Object.entries(OFFICIAL_METHODS)) {
    Object.defineProperty(server, method, {
      enumerable: false,
      value() {
        throw invalidArgument(`${method} is a method of the official SDK. Here, write ${instead}`);
      },
    });
  }
  return server;
}

import type { CallOptions } from '@isthmus/sdk/internal/client/call-options.js';
import type { Client } from '@isthmus/sdk/internal/client/client.js';
import type { Prompt, Resource, ResourceTemplate, Tool } from '@isthmus/sdk/internal/wire/model.js';
import type { Command } from 'commander';
import { signature } from '../arguments/describe-schema.js';
import { chooseTarget, type GivenOptions } from '../choose-target.js';
import { EXIT, usageError } from '../cli-error.js';
import { clientCommand } from '../common-options.js';
import { type CliSession, withSession } from '../session/session.js';
import { table } from '../terminal/table.js';
import { processTerminal, type Terminal, writeJson } from '../terminal/terminal.js';
import { oneLine } from '../terminal/text.js';

export function listCommand(afterDashes: readonly string[] | undefined): Command {
  return clientCommand('list', ' [tools|resources|prompts|templates]', {
    description:
      'List the tools of a server, or its resources, prompts or templates; without a server, of all configured ones.',
    help: [HELP],
    examples: [
      'isthmus list                                     # the tools of all servers that are configured here',
      'isthmus list unix:/tmp/demo.sock',
      'isthmus list --config .mcp.json weather',
      'isthmus list resources -- npx -y @modelcontextprotocol/server-everything',
      "isthmus list tcp://127.0.0.1:4000 prompts --json | jq '.prompts[].name'",
    ],
  }).action(async (args: string[], given: GivenOptions) => {
    const terminal = processTerminal();
    if (!afterDashes && (args.length === 0 || (args.length === 1 && isKind(args[0]!)))) {
      const { listAll } = await import('./explore/list-all.js');
      process.exitCode = await listAll(toKind(args), given, terminal);
      return;
    }
    const { target, rest, options } = await chooseTarget('list', args, afterDashes, given);
    const kind = toKind(rest);
    process.exitCode = await withSession(target, { ...options, cache: true }, terminal, (session) =>
      list(kind, session, terminal, options.json === true),
    );
  });
}

const HELP = `
Without TARGET, all servers are started and asked that the files of --config have, else those of ISTHMUS_CONFIG or
~/.config/isthmus/mcp.json and of the known applications (isthmus config list shows the files). Then the exit code is 3
when one of them cannot be used.`;

export type ListKind = 'tools' | 'resources' | 'prompts' | 'templates';

interface Listing {
  readonly capability: 'tools' | 'resources' | 'prompts';
  all(client: Client, options: CallOptions): Promise<FoundItems>;
}

export interface ListedItems {
  /** For people, where there are no items. */
  readonly none: string;
  readonly items: readonly unknown[];
  render(terminal: Terminal): string;
}

const LISTINGS: Readonly<Record<ListKind, Listing>> = {
  tools: {
    capability: 'tools',
    all: async (client, options) => foundItems(await client.listTools(options), renderTools),
  },
  resources: {
    capability: 'resources',
    all: async (client, options) => foundItems(await client.listResources(options), renderResources),
  },
  prompts: {
    capability: 'prompts',
    all: async (client, options) => foundItems(await client.listPrompts(options), renderPrompts),
  },
  templates: {
    capability: 'resources',
    all: async (client, options) => foundItems(await client.listResourceTemplates(options), renderTemplates),
  },
};

type FoundItems = Omit<ListedItems, 'none'>;

function foundItems<T>(
  items: readonly T[],
  render: (items: readonly T[], terminal: Terminal) => string,
): FoundItems {
  return { items, render: (terminal) => render(items, terminal) };
}

function isKind(text: string): text is ListKind {
  return Object.hasOwn(LISTINGS, text);
}

/** The name of each list in the result of the protocol. */
export const MEMBERS: Readonly<Record<ListKind, string>> = {
  tools: 'tools',
  resources: 'resources',
  prompts: 'prompts',
  templates: 'resourceTemplates',
};

function toKind(args: readonly string[]): ListKind {
  const [kind = 'tools', ...more] = args;
  if (more.length > 0) throw usageError(`Unexpected argument "${more[0]}": list takes one kind`);
  if (isKind(kind)) return kind;
  throw usageError(`Cannot list "${kind}"`, 'Write tools, resources, prompts or templates');
}

async function list(kind: ListKind, session: CliSession, terminal: Terminal, json: boolean): Promise<number> {
  const { items, none, render } = await findItems(kind, session);
  if (json) writeJson(terminal, { [MEMBERS[kind]]: items });
  else terminal.stdout.write(render(terminal));
  if (items.length === 0 && !json) terminal.stderr.write(`${none}\n`);
  return EXIT.ok;
}

export async function findItems(kind: ListKind, session: CliSession): Promise<ListedItems> {
  const { client } = session;
  const { capability, all } = LISTINGS[kind];
  // The specification forbids requests for capabilities that the server does not declare.
  const offered = client.server.capabilities[capability] !== undefined;
  const found = offered
    ? await session.request(`The list of ${kind}`, (options) => all(client, options))
    : foundItems([], () => '');
  const name = oneLine(client.server.info?.name ?? session.connector.label);
  return { ...found, none: `${name} ${offered ? 'has' : 'offers'} no ${kind}` };
}

function renderTools(tools: readonly Tool[], terminal: Terminal): string {
  return render(
    tools.map((tool) => [tool.name, signature(tool.inputSchema), about(tool)]),
    terminal,
  );
}

function renderPrompts(prompts: readonly Prompt[], terminal: Terminal): string {
  return render(
    prompts.map((prompt) => {
      const args = Array.isArray(prompt.arguments) ? prompt.arguments : [];
      return [
        prompt.name,
        args.map(({ name, required }) => (required ? name : `[${name}]`)).join(' '),
        about(prompt),
      ];
    }),
    terminal,
  );
}

function renderResources(resources: readonly Resource[], terminal: Terminal): string {
  return render(
    resources.map((resource) => [resource.uri, resource.mimeType ?? '', about(resource)]),
    terminal,
  );
}

function renderTemplates(templates: readonly ResourceTemplate[], terminal: Terminal): string {
  return render(
    templates.map((template) => [template.uriTemplate, template.mimeType ?? '', about(template)]),
    terminal,
  );
}

/** On a terminal the second cell is below the third. Elsewhere an item is one line, for grep. */
function render(rows: readonly (readonly string[])[], { width, out }: Terminal): string {
  const cells = rows.map((row) => row.map((cell) => oneLine(String(cell))));
  if (!Number.isFinite(width)) {
    const used = [0, 1, 2].filter((column) => cells.some((row) => row[column] !== ''));
    return table(
      cells.map((row) => used.map((column) => row[column]!)),
      { width },
    );
  }
  const lines = cells.flatMap(([name, detail, text]) => [
    ...(text === '' && detail !== '' ? [] : [[name!, text!]]),
    ...(detail === '' ? [] : [[text === '' ? name! : '', `${DETAIL}${detail}`]]),
  ]);
  return table(lines, {
    width,
    paint: (text, column) =>
      column === 0 ? out.bold(text) : text.startsWith(DETAIL) ? out.cyan(text) : text,
  });
}

const DETAIL = '· ';

function about(item: { title?: string; description?: string; name: string }): string {
  return item.description ?? item.title ?? '';
}

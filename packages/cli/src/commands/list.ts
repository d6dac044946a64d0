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
    description: 'List the tools of a server, or its resources, prompts or templates.',
    examples: [
      'isthmus list unix:/tmp/demo.sock',
      'isthmus list --config .mcp.json weather',
      'isthmus list resources -- npx -y @modelcontextprotocol/server-everything',
      "isthmus list tcp://127.0.0.1:4000 prompts --json | jq '.prompts[].name'",
    ],
  }).action(async (args: string[], given: GivenOptions) => {
    const { target, rest, options } = await chooseTarget('list', args, afterDashes, given);
    const kind = toKind(rest);
    const terminal = processTerminal();
    process.exitCode = await withSession(target, { ...options, cache: true }, terminal, (session) =>
      list(kind, session, terminal, options.json === true),
    );
  });
}

type Kind = 'tools' | 'resources' | 'prompts' | 'templates';

interface Listing {
  /** The name of the list in the result of the protocol. */
  readonly member: string;
  readonly capability: 'tools' | 'resources' | 'prompts';
  all(client: Client, options: CallOptions): Promise<Found>;
}

interface Found {
  readonly items: readonly unknown[];
  render(terminal: Terminal): string;
}

const LISTINGS: Readonly<Record<Kind, Listing>> = {
  tools: {
    member: 'tools',
    capability: 'tools',
    all: async (client, options) => found(await client.listTools(options), renderTools),
  },
  resources: {
    member: 'resources',
    capability: 'resources',
    all: async (client, options) => found(await client.listResources(options), renderResources),
  },
  prompts: {
    member: 'prompts',
    capability: 'prompts',
    all: async (client, options) => found(await client.listPrompts(options), renderPrompts),
  },
  templates: {
    member: 'resourceTemplates',
    capability: 'resources',
    all: async (client, options) => found(await client.listResourceTemplates(options), renderTemplates),
  },
};

function found<T>(items: readonly T[], render: (items: readonly T[], terminal: Terminal) => string): Found {
  return { items, render: (terminal) => render(items, terminal) };
}

function toKind(args: readonly string[]): Kind {
  const [kind = 'tools', ...more] = args;
  if (more.length > 0) throw usageError(`Unexpected argument "${more[0]}": list takes one kind`);
  if (Object.hasOwn(LISTINGS, kind)) return kind as Kind;
  throw usageError(`Cannot list "${kind}"`, 'Write tools, resources, prompts or templates');
}

async function list(kind: Kind, session: CliSession, terminal: Terminal, json: boolean): Promise<number> {
  const { client } = session;
  const { member, capability, all } = LISTINGS[kind];
  // The specification forbids requests for capabilities that the server does not declare.
  const offered = client.server.capabilities[capability] !== undefined;
  const { items, render } = offered
    ? await session.request(`The list of ${kind}`, (options) => all(client, options))
    : found([], () => '');
  if (json) writeJson(terminal, { [member]: items });
  else terminal.stdout.write(render(terminal));
  if (items.length === 0 && !json) {
    const name = oneLine(client.server.info?.name ?? session.connector.label);
    terminal.stderr.write(`${name} ${offered ? 'has' : 'offers'} no ${kind}\n`);
  }
  return EXIT.ok;
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

import type { CallOptions } from '@isthmus/sdk/internal/client/call-options.js';
import type { Client } from '@isthmus/sdk/internal/client/client.js';
import type { Command } from 'commander';
import { chooseTarget, type GivenOptions } from '../choose-target.js';
import { usageError } from '../cli-error.js';
import { clientCommand } from '../common-options.js';
import { EXIT } from '../exit-codes.js';
import { type CliSession, withSession } from '../session.js';
import { renderPrompts, renderResources, renderTemplates, renderTools } from '../terminal/render-list.js';
import { processTerminal, type Terminal, writeJson } from '../terminal/terminal.js';
import { oneLine } from '../terminal/text.js';

export function listCommand(behind: readonly string[] | undefined): Command {
  return clientCommand('list', ' [tools|resources|prompts|templates]', {
    description: 'List what a server offers; the tools unless something else is named.',
    examples: [
      'isthmus list unix:/tmp/demo.sock',
      'isthmus list --config .mcp.json weather',
      'isthmus list resources -- npx -y @modelcontextprotocol/server-everything',
      "isthmus list tcp://127.0.0.1:4000 prompts --json | jq '.prompts[].name'",
    ],
  }).action(async (words: string[], given: GivenOptions) => {
    const { target, rest, options } = await chooseTarget('list', words, behind, given);
    const kind = toKind(rest);
    const terminal = processTerminal();
    process.exitCode = await withSession(target, { ...options, cache: true }, terminal, (session) =>
      list(kind, session, terminal, options.json === true),
    );
  });
}

type Kind = 'tools' | 'resources' | 'prompts' | 'templates';

interface Listing {
  /** The member of the result on the wire. */
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

function toKind(words: readonly string[]): Kind {
  const [word = 'tools', ...more] = words;
  if (more.length > 0) throw usageError(`list takes one kind of thing; what is "${more[0]}"?`);
  if (Object.hasOwn(LISTINGS, word)) return word as Kind;
  throw usageError(`Cannot list "${word}"`, 'Name tools, resources, prompts or templates');
}

async function list(kind: Kind, session: CliSession, terminal: Terminal, json: boolean): Promise<number> {
  const { client } = session;
  const { member, capability, all } = LISTINGS[kind];
  // What is not declared counts as not implemented: there is nothing to ask for.
  const offered = client.server.capabilities[capability] !== undefined;
  const { items, render } = offered
    ? await session.request(`The list of ${kind}`, (options) => all(client, options))
    : found([], () => '');
  if (json) writeJson(terminal, { [member]: items });
  else terminal.stdout.write(render(terminal));
  if (items.length === 0 && !json) {
    const who = oneLine(client.server.info?.name ?? session.connector.label);
    terminal.stderr.write(`${who} ${offered ? 'has' : 'offers'} no ${kind}\n`);
  }
  return EXIT.ok;
}

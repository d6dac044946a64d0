import { createHash } from 'node:crypto';
import type { CallOptions } from '../client/call-options.js';
import type { Client } from '../client/client.js';
import { IsthmusError } from '../errors.js';
import { nearMiss } from '../near-miss.js';
import type { JsonObject } from '../wire/json-rpc.js';
import type { CallToolResult, Tool } from '../wire/model.js';
import type { ConversationOptions } from './conversation.js';

/** Which servers `host.tools()` asks, and how their questions are answered. */
export interface HostToolsOptions extends Omit<ConversationOptions, 'name'> {
  /** Default: all servers that are enabled. */
  readonly servers?: readonly string[];
}

/** A tool of one of the servers of a host. */
export interface HostTool {
  /** Unique in the host, and allowed by LLM APIs: 1 to 64 letters, digits, `_` and `-`. */
  readonly name: string;
  readonly server: string;
  /** The tool as the server lists it. */
  readonly tool: Tool;
}

/** The tools of all servers of a host as one list. */
export interface HostTools extends AsyncDisposable {
  readonly list: readonly HostTool[];
  /** The servers whose tools could not be listed, with the reasons. The others are usable. */
  readonly failures: readonly { readonly server: string; readonly error: unknown }[];
  /** Calls a tool by its name in `list`. */
  call(name: string, args?: JsonObject, options?: CallOptions): Promise<CallToolResult>;
  /** Lists the tools again, for example after a server has changed. Names of tools that are still there do not change. */
  refresh(): Promise<void>;
  /** Closes the conversations that the calls use. */
  close(): Promise<void>;
}

/** Opens a conversation with each server and lists its tools. */
export async function openHostTools(
  servers: readonly string[],
  converse: (server: string) => Client,
): Promise<HostTools> {
  const clients = new Map(servers.map((server) => [server, converse(server)]));
  let byName = new Map<string, HostTool>();
  let failures: { server: string; error: unknown }[] = [];
  const refresh = async (): Promise<void> => {
    const failed: typeof failures = [];
    const lists = await Promise.all(
      [...clients].map(async ([server, client]) => {
        try {
          return (await client.listTools()).map((tool) => ({
            name: llmName(server, tool.name),
            server,
            tool,
          }));
        } catch (error) {
          failed.push({ server, error });
          return [];
        }
      }),
    );
    byName = new Map(lists.flat().map((each) => [each.name, each]));
    failures = failed;
  };
  await refresh();
  const tools: HostTools = {
    get list() {
      return [...byName.values()];
    },
    get failures() {
      return failures;
    },
    async call(name, args = {}, options) {
      const found = byName.get(name);
      if (!found) throw unknownTool(name, [...byName.keys()]);
      return clients.get(found.server)!.callTool(found.tool.name, args, options);
    },
    refresh,
    async close() {
      await Promise.all([...clients.values()].map((client) => client.close()));
    },
    [Symbol.asyncDispose]: () => tools.close(),
  };
  return tools;
}

/**
 * The name of a tool for LLM APIs: `server__tool`. It depends on nothing else, so it is the same in every run. A name that
 * would be too long, has other characters, or could be read in two ways ends in a hash.
 */
export function llmName(server: string, tool: string): string {
  const plain = `${server}__${tool}`;
  const isClear = !server.includes('__') && !server.endsWith('_') && !tool.startsWith('_');
  if (isClear && /^[a-zA-Z0-9_-]{1,64}$/.test(plain)) return plain;
  const hash = createHash('sha256')
    .update(JSON.stringify([server, tool]))
    .digest('hex')
    .slice(0, 8);
  return `${plain.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 55)}_${hash}`;
}

function unknownTool(name: string, known: readonly string[]): IsthmusError {
  const meant = nearMiss(name, known);
  const advice = meant === undefined ? '' : `; did you mean ${meant}?`;
  return new IsthmusError('INVALID_OPTION', `There is no tool ${JSON.stringify(name)}${advice}`, {
    sent: 'no',
  });
}

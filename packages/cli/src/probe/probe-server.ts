import type { CallOptions } from '@isthmus/sdk/internal/client/call-options.js';
import type { EraVerdict } from '@isthmus/sdk/internal/era/client/era-verdict.js';
import { messageOf, ProtocolError } from '@isthmus/sdk/internal/errors.js';
import { events } from '@isthmus/sdk/internal/events.js';
import type { Era, ServerFacts } from '@isthmus/sdk/internal/exchange/call.js';
import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';
import { type DecodedMessage, isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { CliSession } from '../session/session.js';
import { oneLine } from '../terminal/text.js';
import { type AppTool, appToolsOf } from './app-tools.js';
import { findOddities, type Oddity } from './oddities.js';

/** Lists everything that a connected server declares. A list that fails becomes a part of the report. */
export async function probeServer(
  session: CliSession,
  noise: ProbeFacts['noise'],
  dropped: ProbeFacts['dropped'],
): Promise<ProbeFacts> {
  const { client, connector } = session;
  const { tools, resources, prompts } = client.server.capabilities;
  const began = performance.now();
  const list = (
    kind: ProbedListKind,
    declared: unknown,
    all: (options: CallOptions) => Promise<ListedItem[]>,
  ) => (declared ? tryList(session, kind, all) : undefined);
  const lists = {
    tools: await list('tools', tools, (options) => client.listTools(options)),
    resources: await list('resources', resources, (options) => client.listResources(options)),
    templates: await list('templates', resources, (options) => client.listResourceTemplates(options)),
    prompts: await list('prompts', prompts, (options) => client.listPrompts(options)),
  };
  return {
    target: connector.label,
    era: client.era,
    revision: client.revision,
    server: client.server,
    verdict: client.verdict,
    opened: connector.opened,
    seen: connector.seen,
    noise,
    dropped,
    lists,
    ms: Math.round(client.verdict.ms + performance.now() - began),
  };
}

/** Counts the messages that the client dropped, by reason. Lines that are not messages are counted elsewhere. */
export function countDropped(): { readonly counts: ReadonlyMap<string, number>; stop(): void } {
  const counts = new Map<string, number>();
  const count = (event: unknown) => {
    const { why, message } = event as { why: string; message: unknown };
    if (isJsonObject(message) && message['kind'] === 'invalid') return;
    counts.set(why, (counts.get(why) ?? 0) + 1);
  };
  events.dropped.subscribe(count);
  return { counts, stop: () => void events.dropped.unsubscribe(count) };
}

type ListedItem = { name: string; inputSchema?: unknown; uri?: string; _meta?: unknown };

async function tryList(
  session: CliSession,
  kind: ProbedListKind,
  all: (options: CallOptions) => Promise<ListedItem[]>,
): Promise<ListOutcome> {
  const began = performance.now();
  const ms = () => Math.round(performance.now() - began);
  try {
    const items = await session.request(`The list of ${kind}`, all);
    const names = items.map((item) => oneLine(String(item.uri ?? item.name)));
    return {
      count: items.length,
      ms: ms(),
      repeated: [...new Set(names.filter((name, at) => names.indexOf(name) !== at))],
      withoutSchema: items
        .filter(
          ({ inputSchema }) =>
            kind === 'tools' && !(isJsonObject(inputSchema) && inputSchema['type'] === 'object'),
        )
        .map(({ name }) => oneLine(String(name))),
      apps: kind === 'tools' ? appToolsOf(items) : [],
    };
  } catch (error) {
    const code = error instanceof ProtocolError ? `${error.code} ` : '';
    return {
      error: `${code}${oneLine(messageOf(error))}`,
      methodNotFound: error instanceof ProtocolError && error.code === ErrorCode.MethodNotFound,
      ms: ms(),
    };
  }
}

export type ProbedListKind = 'tools' | 'resources' | 'templates' | 'prompts';

/** The result of a list request. */
export type ListOutcome =
  | {
      readonly count: number;
      readonly ms: number;
      /** Names of more than one item. */
      readonly repeated: readonly string[];
      /** Tools without an input schema, or with one that is not for an object. */
      readonly withoutSchema: readonly string[];
      /** Tools that have to do with user interfaces. */
      readonly apps: readonly AppTool[];
    }
  | { readonly error: string; readonly methodNotFound: boolean; readonly ms: number };

/** Everything that is known about a server. */
export interface ProbeFacts {
  readonly target: string;
  readonly era: Era;
  readonly revision: string;
  readonly server: ServerFacts;
  readonly verdict: EraVerdict;
  /** The number of connections; for a command, the number of starts. */
  readonly opened: number;
  /** The answers before the era was known. */
  readonly seen: readonly DecodedMessage[];
  readonly noise: { readonly count: number; readonly sample: string };
  /** The number of dropped messages, by reason. */
  readonly dropped: ReadonlyMap<string, number>;
  /** `undefined` where the server does not declare the capability. */
  readonly lists: Readonly<Record<ProbedListKind, ListOutcome | undefined>>;
  readonly ms: number;
}

/** The output of `probe --json`. */
export interface ProbeReport {
  readonly target: string;
  readonly era: Era;
  readonly revision: string;
  /** The revisions that the server lists; a legacy server does not list them. */
  readonly supportedVersions: readonly unknown[] | null;
  readonly verdict: EraVerdict;
  readonly server: ServerFacts['info'] | null;
  readonly instructions: string | null;
  readonly capabilities: ServerFacts['capabilities'];
  /** `null` where the server does not declare the capability. */
  readonly counts: Readonly<Record<ProbedListKind, number | null>>;
  readonly timings: { readonly connectMs: number; readonly totalMs: number } & Readonly<
    Partial<Record<`${ProbedListKind}Ms`, number>>
  >;
  readonly odd: readonly Oddity[];
}

export function toReport(facts: ProbeFacts): ProbeReport {
  const { target, era, revision, verdict, server, lists } = facts;
  const kinds = Object.keys(lists) as ProbedListKind[];
  return {
    target,
    era,
    revision,
    supportedVersions: supportedVersions(facts.seen),
    verdict,
    server: server.info ?? null,
    instructions: server.instructions ?? null,
    capabilities: server.capabilities,
    counts: Object.fromEntries(
      kinds.map((kind) => {
        const list = lists[kind];
        return [kind, list && 'count' in list ? list.count : null];
      }),
    ) as Record<ProbedListKind, number | null>,
    timings: {
      connectMs: Math.round(verdict.ms),
      ...Object.fromEntries(
        kinds.filter((kind) => lists[kind]).map((kind) => [`${kind}Ms`, lists[kind]!.ms]),
      ),
      totalMs: facts.ms,
    },
    odd: findOddities(facts),
  };
}

function supportedVersions(seen: readonly DecodedMessage[]): readonly unknown[] | null {
  for (const message of seen.toReversed()) {
    const versions = message.kind === 'result' ? message.result['supportedVersions'] : undefined;
    if (Array.isArray(versions)) return versions;
  }
  return null;
}

import type { CallOptions } from '@isthmus/sdk/internal/client/call-options.js';
import { messageOf, ProtocolError } from '@isthmus/sdk/internal/errors.js';
import { events } from '@isthmus/sdk/internal/events.js';
import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';
import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { CliSession } from '../session.js';
import { oneLine } from '../terminal/text.js';
import type { ListOutcome, ProbedListKind, ProbeFacts } from './probe-report.js';

/** Looks at everything that a connected server declares. A list that fails is a finding, not a failure. */
export async function probeServer(
  session: CliSession,
  noise: ProbeFacts['noise'],
  dropped: ProbeFacts['dropped'],
): Promise<ProbeFacts> {
  const { client, connector } = session;
  const { tools, resources, prompts } = client.server.capabilities;
  const began = performance.now();
  const list = (kind: ProbedListKind, declared: unknown, all: (options: CallOptions) => Promise<Named[]>) =>
    declared ? listed(session, kind, all) : undefined;
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

/** Counts what the client had to drop, by reason, until it is stopped. Noise is counted elsewhere. */
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

type Named = { name: string; inputSchema?: unknown; uri?: string };

async function listed(
  session: CliSession,
  kind: ProbedListKind,
  all: (options: CallOptions) => Promise<Named[]>,
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
      unschooled: items
        .filter(
          ({ inputSchema }) =>
            kind === 'tools' && !(isJsonObject(inputSchema) && inputSchema['type'] === 'object'),
        )
        .map(({ name }) => oneLine(String(name))),
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

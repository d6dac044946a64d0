import type { ConsoleUser } from '../access/access.js';
import type { EraName, Snippet, SnippetRequest } from '../contract.js';
import { invalid, notFound } from '../http/console-error.js';
import { integer, oneOf, optional, readFields, text } from '../http/read-fields.js';
import type { Handlers } from '../http/router.js';
import { rawMember } from '../json/raw-members.js';
import type { CallEntry } from '../stores/call-store.js';
import { callDetail } from './call-details.js';
import type { ConsoleRecords } from './console-records.js';
import type { SnippetFacts } from './inspect-options.js';

export interface SnippetWriter {
  /** What a client of this server speaks. */
  eraOf(server: string | undefined): { readonly era: EraName; readonly revision: string };
  write(facts: SnippetFacts): Promise<Snippet>;
  /** Throws where this user may not see the payloads of this call. */
  checkPayloads?(entry: CallEntry, user: ConsoleUser): void;
}

/** A call as a line for a shell, a program or a file. */
export function snippetHandlers(records: ConsoleRecords, writer: SnippetWriter): Handlers {
  return {
    'POST snippets'({ body, user }) {
      const request = readFields<SnippetRequest>(body, SNIPPET_FIELDS);
      const { method, params, server } = sourceOf(records, request, (entry) =>
        writer.checkPayloads?.(entry, user),
      );
      return writer.write({
        ...{ kind: request.kind, method, params, server, args: rawMember(params, 'arguments') },
        ...writer.eraOf(server),
      });
    },
  };
}

interface SnippetSource {
  readonly method: string;
  readonly params: string;
  readonly server?: string | undefined;
}

function sourceOf(
  records: ConsoleRecords,
  { call, method, params, server }: SnippetRequest,
  check: (entry: CallEntry) => void,
): SnippetSource {
  if (call === undefined) {
    if (method === undefined || params === undefined) throw invalid('Give "call", or "method" and "params"');
    return { method, params: checkedJson(params), server };
  }
  const entry = records.calls.get(call);
  if (!entry) throw notFound(`Call ${call} is not kept any more, or never was`);
  check(entry);
  const detail = callDetail(records, entry);
  return { method: detail.method, params: detail.params ?? '{}', server: detail.server };
}

function checkedJson(given: string): string {
  try {
    JSON.parse(given);
    return given;
  } catch {
    throw invalid('"params" is not valid JSON');
  }
}

const SNIPPET_FIELDS = {
  kind: oneOf('cli', 'curl', 'test', 'config', 'json'),
  call: optional(integer(1, Number.MAX_SAFE_INTEGER)),
  method: optional(text(200)),
  params: optional(text(4 * 1024 * 1024)),
  server: optional(text(200)),
};

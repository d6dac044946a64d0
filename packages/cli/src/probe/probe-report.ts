import type { EraVerdict } from '@isthmus/sdk/internal/client/negotiation/negotiated-connection.js';
import type { Era, ServerFacts } from '@isthmus/sdk/internal/exchange/call.js';
import type { DecodedMessage } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { findOddities, type Oddity } from './oddities.js';

export type ProbedListKind = 'tools' | 'resources' | 'templates' | 'prompts';

/** A list that was asked for. */
export type ListOutcome =
  | {
      readonly count: number;
      readonly ms: number;
      /** Names that more than one item has. */
      readonly repeated: readonly string[];
      /** Tools whose input schema is missing or describes no object. */
      readonly unschooled: readonly string[];
    }
  | { readonly error: string; readonly methodNotFound: boolean; readonly ms: number };

/** All that was seen of a server. */
export interface ProbeFacts {
  readonly target: string;
  readonly era: Era;
  readonly revision: string;
  readonly server: ServerFacts;
  readonly verdict: EraVerdict;
  /** How many connections it took; for a command: how often it was started. */
  readonly opened: number;
  /** What came in until the era was known. */
  readonly seen: readonly DecodedMessage[];
  readonly noise: { readonly count: number; readonly sample: string };
  /** Messages that match nothing, by kind. */
  readonly dropped: ReadonlyMap<string, number>;
  /** `undefined`: not declared, so not asked for. */
  readonly lists: Readonly<Record<ProbedListKind, ListOutcome | undefined>>;
  readonly ms: number;
}

/** What `probe --json` prints. */
export interface ProbeReport {
  readonly target: string;
  readonly era: Era;
  readonly revision: string;
  /** What the server says it speaks; a legacy server does not say. */
  readonly supportedVersions: readonly unknown[] | null;
  readonly verdict: EraVerdict;
  readonly server: ServerFacts['info'] | null;
  readonly instructions: string | null;
  readonly capabilities: ServerFacts['capabilities'];
  /** `null` where the server does not declare them. */
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

import {
  isInterimRevision,
  MODERN_REVISIONS,
  SESSION_REVISIONS,
} from '@isthmus/sdk/internal/era/revisions.js';
import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';
import { type DecodedMessage, isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { ProbedListKind, ProbeFacts } from './probe-server.js';

/** A warning about a server. */
export interface Oddity {
  readonly code: string;
  readonly message: string;
}

/** The warnings about a server. Most are harmless for this client, but a problem for others. */
export function findOddities(facts: ProbeFacts): Oddity[] {
  const found = [
    ...aboutStart(facts),
    ...aboutDrafts(facts),
    ...facts.seen.flatMap((message) => aboutMessage(message, facts)),
    ...aboutNoise(facts),
    ...aboutIdentity(facts),
    ...aboutLists(facts),
    ...aboutDropped(facts),
  ];
  return found.filter(({ message }, at) => found.findIndex((other) => other.message === message) === at);
}

function aboutStart({ opened, seen, verdict }: ProbeFacts): Oddity[] {
  const found: Oddity[] = [];
  if (opened > 1) {
    found.push(odd('exits-on-probe', 'The server exits on server/discover and had to be started again'));
  }
  if (verdict.discovery.some(({ kind }) => kind === 'silence')) {
    const late = seen.some((message) => message.kind === 'error' || isDiscovery(message));
    found.push(
      odd(
        'silent-on-discover',
        `The server ${late ? 'answers server/discover too late' : 'does not answer server/discover'}, instead of refusing it; every client that asks loses time (here ${Math.round(verdict.ms)} ms)`,
      ),
    );
  }
  return found;
}

function aboutDrafts({ verdict, revision }: ProbeFacts): Oddity[] {
  const code = isInterimRevision(revision) ? 'interim-draft' : 'draft-shape';
  return (verdict.warnings ?? []).map((message) =>
    odd(code, message.charAt(0).toUpperCase() + message.slice(1)),
  );
}

function aboutMessage(message: DecodedMessage, { verdict }: ProbeFacts): Oddity[] {
  if (message.kind === 'error') {
    const { code, message: text, data } = message.error;
    if (message.id === undefined) {
      return [
        odd(
          'error-without-id',
          `The server answers with an error without id (${code} "${text}"), so it is not clear which request failed`,
        ),
      ];
    }
    if (code === ErrorCode.UnsupportedProtocolVersion) return aboutVersionError(data);
    const isRefusal = verdict.discovery.some((each) => each.kind === 'error' && each.code === code);
    if (code !== ErrorCode.MethodNotFound && isRefusal) {
      return [
        odd(
          'odd-refusal',
          `The server refuses server/discover with ${code} "${text}"; the code for an unknown method is -32601`,
        ),
      ];
    }
  }
  return isDiscovery(message) ? aboutVersions(message.result['supportedVersions']) : [];
}

function aboutVersionError(data: unknown): Oddity[] {
  const { supported, requested } = isJsonObject(data) ? data : {};
  if (!Array.isArray(supported)) {
    return [
      odd(
        'odd-version-error',
        'The server refuses the version (-32022) without data.supported, so its versions are unknown',
      ),
    ];
  }
  const found = aboutVersions(supported);
  if (typeof requested !== 'string') {
    found.push(odd('odd-version-error', 'The version error (-32022) has no data.requested'));
  }
  return found;
}

function aboutVersions(versions: unknown): Oddity[] {
  const known: readonly unknown[] = [...SESSION_REVISIONS, ...MODERN_REVISIONS];
  const unknown = (Array.isArray(versions) ? versions : []).filter((version) => !known.includes(version));
  return unknown.length === 0
    ? []
    : [
        odd(
          'unknown-versions',
          `The server lists versions that isthmus does not know: ${unknown.map((version) => JSON.stringify(version)).join(', ')}`,
        ),
      ];
}

function isDiscovery(message: DecodedMessage): message is Extract<DecodedMessage, { kind: 'result' }> {
  return message.kind === 'result' && 'supportedVersions' in message.result;
}

function aboutNoise({ noise }: ProbeFacts): Oddity[] {
  return noiseOnStdout(noise.count, noise.sample);
}

/** A warning about lines on stdout that are not messages. `sample`: what is wrong with the first one. */
export function noiseOnStdout(count: number, sample?: string): Oddity[] {
  if (count === 0) return [];
  const lines = count === 1 ? 'a line that is not a message' : `${count} lines that are not messages`;
  const why = sample === undefined ? '' : ` (${sample})`;
  return [
    odd(
      'noise-on-stdout',
      `The server wrote ${lines} to stdout, where only messages may be${why}; logs belong on stderr`,
    ),
  ];
}

function aboutIdentity({ server, era }: ProbeFacts): Oddity[] {
  const { info, capabilities } = server;
  const found: Oddity[] = [];
  const where = era === 'modern' ? 'its answer to server/discover' : 'its answer to initialize';
  if (!isJsonObject(info))
    found.push(odd('no-server-info', `The server does not send serverInfo in ${where}`));
  else {
    const missing = ['name', 'version'].filter(
      (key) => typeof (info as Record<string, unknown>)[key] !== 'string',
    );
    if (missing.length > 0)
      found.push(odd('incomplete-server-info', `The serverInfo has no ${missing.join(' and no ')}`));
  }
  if (Object.keys(capabilities).length === 0)
    found.push(odd('no-capabilities', 'The server declares no capabilities'));
  return found;
}

function aboutLists({ lists }: ProbeFacts): Oddity[] {
  return (Object.keys(lists) as ProbedListKind[]).flatMap((kind) => {
    const list = lists[kind];
    if (!list) return [];
    if ('error' in list) {
      // Templates have no capability of their own: a server without templates may refuse the list.
      return kind === 'templates' && list.methodNotFound
        ? []
        : [odd('list-fails', `The server declares ${kind} but fails to list them: ${list.error}`)];
    }
    const found: Oddity[] = [];
    if (list.repeated.length > 0)
      found.push(odd('repeated-names', `Several ${kind} have the same name: ${list.repeated.join(', ')}`));
    if (list.withoutSchema.length > 0) {
      found.push(
        odd(
          'no-input-schema',
          `These tools have no input schema of type object: ${list.withoutSchema.join(', ')}`,
        ),
      );
    }
    return found;
  });
}

function aboutDropped({ dropped }: ProbeFacts): Oddity[] {
  return [...dropped].map(([why, count]) =>
    odd('dropped', `The server sent ${why}${count > 1 ? `, ${count} times` : ''}`),
  );
}

function odd(code: string, message: string): Oddity {
  return { code, message };
}

import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import { LATEST_LEGACY, LATEST_MODERN } from '@isthmus/sdk/internal/era/revisions.js';
import { messageOf } from '@isthmus/sdk/internal/errors.js';
import type { Era } from '@isthmus/sdk/internal/exchange/call.js';
import { tlsObstacleOf } from '@isthmus/sdk/internal/transport/http-client/failures.js';
import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { CheckConversation, Reply } from '../conversation/conversation.js';
import {
  NoHello,
  type OpenConversationOptions,
  openConversation,
} from '../conversation/open-conversation.js';
import type { CheckTarget } from '../wire/targets.js';

/** Whether a target supports an era: an open conversation, or the reason why not. */
export type SurveyedEra =
  | { readonly era: Era; readonly speaks: true; readonly conversation: CheckConversation }
  | {
      readonly era: Era;
      readonly speaks: false;
      readonly why: string;
      readonly reply: Reply | undefined;
      /** Set where the server cannot be reached at all. */
      readonly unreachable?: Error;
    };

/** Tries both eras at once, each on its own connection, so that a failed probe does not affect the other era. */
export async function findEras(
  target: CheckTarget,
  wanted: readonly Era[],
  options: Omit<OpenConversationOptions, 'era' | 'revision'>,
): Promise<SurveyedEra[]> {
  const legacy = wanted.includes('legacy') ? askFor(target, 'legacy', options) : undefined;
  // A legacy server may not answer an unknown method.
  const giveUp = legacy?.then(({ speaks }) =>
    speaks ? pause(options, SILENCE_MS) : pause(options, options.helloMs),
  );
  const modern = wanted.includes('modern')
    ? askFor(target, 'modern', { ...options, ...(giveUp && { giveUp }) })
    : undefined;
  return (await Promise.all([modern, legacy])).filter((verdict) => verdict !== undefined);
}

/** How long after its answer to `initialize` a server may still answer `server/discover`. */
const SILENCE_MS = 1500;

function pause({ clock }: { readonly clock: Clock }, ms: number): Promise<void> {
  return new Promise((resolve) => clock.after(ms, resolve, { background: true }));
}

async function askFor(
  target: CheckTarget,
  era: Era,
  options: Omit<OpenConversationOptions, 'era' | 'revision'>,
): Promise<SurveyedEra> {
  const revision = era === 'modern' ? LATEST_MODERN : LATEST_LEGACY;
  try {
    const conversation = await openConversation(target, { ...options, era, revision });
    const versions = conversation.hello['supportedVersions'];
    if (era === 'modern' && Array.isArray(versions) && !versions.includes(revision)) {
      await conversation.close();
      return {
        era,
        speaks: false,
        why: `it speaks ${versions.join(', ')}, and ${revision} is not among them`,
        reply: undefined,
      };
    }
    return { era, speaks: true, conversation };
  } catch (error) {
    const reply = error instanceof NoHello ? error.reply : undefined;
    const unreachable = unreachableBy(error);
    return {
      era,
      speaks: false,
      why: messageOf(error) + supportedIn(reply),
      reply,
      ...(unreachable && { unreachable }),
    };
  }
}

/** The system could not connect or start the process, or the process exited before its first answer. */
function unreachableBy(error: unknown): Error | undefined {
  if (error instanceof NoHello) {
    const { reply } = error;
    return reply.kind === 'silence' && reply.exited ? new Error(reply.why) : undefined;
  }
  const { code, cause } = error as NodeJS.ErrnoException;
  const isSystem = [code, (cause as NodeJS.ErrnoException | undefined)?.code].some((each) =>
    UNREACHABLE.has(each),
  );
  return isSystem || tlsObstacleOf(error) ? (error as Error) : undefined;
}

const UNREACHABLE: ReadonlySet<string | undefined> = new Set([
  'ECONNREFUSED',
  'ENOENT',
  'EACCES',
  'ENOTFOUND',
  'CANNOT_START',
]);

function supportedIn(reply: Reply | undefined): string {
  const data = reply?.kind === 'error' ? reply.error.data : undefined;
  const supported = isJsonObject(data) ? data['supported'] : undefined;
  return Array.isArray(supported) ? ` (it says that it speaks ${supported.join(', ')})` : '';
}

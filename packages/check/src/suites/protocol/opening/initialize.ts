import { isLegacyRevision, LEGACY_REVISIONS } from '@isthmus/sdk/internal/era/revisions.js';
import { type CheckConversation, type Reply, replyOf } from '../../../conversation/conversation.js';
import { CLIENT_INFO, legacyCapabilities } from '../../../conversation/envelope.js';
import { legacyHeaders } from '../../../conversation/http-legacy-conversation.js';
import { NoHello } from '../../../conversation/open-conversation.js';
import type { Check } from '../../../model.js';
import type { CheckContext } from '../../../run/check-context.js';
import { causeIn } from '../../../run/failure-cause.js';
import type { Facts } from '../../../survey/facts.js';
import type { StreamPeer } from '../../../wire/stream-peer.js';
import { membersOf } from '../../../wire/transcript.js';
import { inWords } from '../answers.js';

/** The handshake of the legacy era. */
export const initializeChecks: readonly Check[] = [
  {
    id: 'initialize/version-echoed',
    suite: 'protocol',
    title: 'Answers initialize with the requested version, if it supports it',
    level: 'MUST',
    rules: ['INIT-009'],
    era: 'legacy',
    lane: 'own',
    hint: 'If you support the requested version, answer with it. Do not always answer with the newest.',
    async run(context) {
      const chosen = new Map<string, string>();
      for (const asked of LEGACY_REVISIONS)
        chosen.set(asked, asked === context.revision ? asked : await versionFor(context, asked));
      for (const [asked, answer] of chosen) {
        // The server supports the version that it answers with, so it must accept a request for it.
        const again = chosen.get(answer);
        if (again !== undefined && again !== answer)
          context.fail(
            `asked for ${asked} it chose ${answer}, and asked for ${answer} it chose ${again}`,
            answer,
          );
      }
      return [...chosen]
        .map(([asked, answer]) => (asked === answer ? asked : `${asked} became ${answer}`))
        .join(', ');
    },
  },
  {
    id: 'initialize/unknown-version',
    suite: 'protocol',
    title: 'Answers initialize with an unknown version with a version that it supports',
    level: 'MUST',
    rules: ['INIT-010'],
    era: 'legacy',
    lane: 'own',
    hint: 'Answer with your newest version and let the client decide. Do not answer with an error.',
    async run(context) {
      const answer = await answerToUnknownVersion(context);
      if (!isLegacyRevision(answer))
        context.fail(`asked for 1900-01-01 it chose ${JSON.stringify(answer)}`, LEGACY_REVISIONS.join(', '));
      return `asked for 1900-01-01 it chose ${answer}`;
    },
  },
  {
    id: 'initialize/newest-offered',
    suite: 'protocol',
    title: 'Offers its newest version to a client that requests an unknown one',
    level: 'SHOULD',
    rules: ['INIT-010'],
    era: 'legacy',
    lane: 'own',
    hint: 'Answer with the newest version that you support, not with the oldest.',
    async run(context) {
      const answer = await answerToUnknownVersion(context);
      if (answer < context.revision)
        context.fail(`it chose ${answer}, but supports ${context.revision}`, context.revision);
      return `asked for 1900-01-01 it chose ${answer}`;
    },
  },
  {
    id: 'initialize/ping-before-initialized',
    suite: 'protocol',
    title: 'Answers ping between initialize and initialized',
    level: 'MUST',
    rules: ['PING-001'],
    era: 'legacy',
    lane: 'own',
    hint: 'Answer ping before notifications/initialized, too.',
    async run(context) {
      const greeting = await greet(context);
      context.needResult(await greeting.ask('ping'), 'ping before notifications/initialized');
      return 'ping was answered before notifications/initialized';
    },
  },
  {
    id: 'initialize/nothing-asked-early',
    suite: 'protocol',
    title: 'Sends no request but ping before initialized',
    level: 'SHOULD',
    rules: ['INIT-006'],
    era: 'legacy',
    lane: 'own',
    over: ['command', 'socket'],
    hint: 'Wait for notifications/initialized before you request roots or anything else.',
    async run(context) {
      const { peer } = await greet(context);
      await context.pause(context.patience.quietMs);
      const early = peer!.transcript.frames.filter(
        ({ from, kind, method }) =>
          from === 'server' &&
          ((kind === 'request' && method !== 'ping') ||
            (kind === 'notification' && method !== 'notifications/message')),
      );
      if (early.length > 0)
        context.fail(
          `before initialized it sent ${early.map(({ method }) => method).join(', ')}`,
          'only ping and logs',
        );
      return 'no request came before initialized';
    },
  },
  {
    id: 'initialize/request-before',
    suite: 'protocol',
    title: 'Accepts initialize after a request that came too early',
    level: 'SHOULD',
    rules: [],
    reason: 'One early request should not make a server unusable.',
    era: 'legacy',
    lane: 'own',
    over: ['command', 'socket'],
    hint: 'Refuse requests before initialize, and continue to read.',
    async run(context) {
      const greeting = await greet(context, (peer) => {
        peer.send({ jsonrpc: '2.0', id: 'early', method: 'tools/list' });
      });
      const { reply } = greeting;
      if (reply.kind !== 'result')
        context.fail(
          `initialize after tools/list was answered with ${inWords(reply)}`,
          'a result',
          // A server that is still busy with tools/list cannot answer.
          causeIn(reply, 'tools/list'),
        );
      return 'initialize was answered after a request that came too early';
    },
  },
  {
    id: 'initialize/twice',
    suite: 'protocol',
    title: 'Answers a second initialize, and continues to serve the session',
    level: 'SHOULD',
    rules: [],
    reason: 'The specification does not define it, but a request without an answer hangs.',
    era: 'legacy',
    lane: 'own',
    hint: 'Refuse it with -32600, or answer it like the first one.',
    async run(context) {
      const conversation = await context.openConversation();
      const params = {
        protocolVersion: conversation.revision,
        capabilities: {},
        clientInfo: { name: 'again', version: '1' },
      };
      const reply = await conversation.request('initialize', params);
      const seen = `a second initialize was answered with ${inWords(reply)}`;
      if (reply.kind === 'silence') context.fail(seen, 'a result or an error');
      context.needResult(await conversation.request('ping'), 'ping after a second initialize');
      return seen;
    },
  },
];

/** The answer to an unknown version, requested once for all checks. */
function answerToUnknownVersion(context: CheckContext): Promise<string> {
  const known = answers.get(context.facts) ?? versionFor(context, '1900-01-01');
  answers.set(context.facts, known);
  return known;
}

const answers = new WeakMap<Facts, Promise<string>>();

/** The version in the answer to `initialize` with this version. */
async function versionFor(context: CheckContext, revision: string): Promise<string> {
  let conversation: CheckConversation;
  try {
    conversation = await context.openConversation({ revision });
  } catch (error) {
    if (!(error instanceof NoHello)) throw error;
    return context.fail(`asked for ${revision}: ${error.message}`, 'a result with a supported version');
  }
  await conversation.close();
  return String(conversation.hello['protocolVersion']);
}

interface Greeting {
  /** The answer to `initialize`. */
  readonly reply: Reply;
  ask(method: string): Promise<Reply>;
  /** Set on streams. */
  readonly peer: StreamPeer | undefined;
}

/** Sends `initialize` only. On a stream, `before` may send something first. */
export async function greet(context: CheckContext, before?: (peer: StreamPeer) => void): Promise<Greeting> {
  const initialize = {
    jsonrpc: '2.0',
    id: 'hello',
    method: 'initialize',
    params: {
      protocolVersion: context.revision,
      capabilities: legacyCapabilities(context.revision),
      clientInfo: CLIENT_INFO,
    },
  };
  if (context.target.transport === 'http') return greetByPost(context, initialize);
  const peer = await context.openStream();
  before?.(peer);
  const ask = async (message: Request, ms: number) => {
    peer.send({ jsonrpc: '2.0', ...message });
    const frame = await peer.transcript.waitFor((each) => membersOf(each)['id'] === message.id, ms);
    const why = peer.hasEnded ? 'the connection ended' : `no answer within ${ms} ms`;
    return frame
      ? replyOf(frame, about(message))
      : ({ kind: 'silence', why, ...about(message) } satisfies Reply);
  };
  return {
    reply: await ask(initialize, context.patience.helloMs),
    ask: (method) => ask({ id: method, method }, context.patience.answerMs),
    peer,
  };
}

async function greetByPost(context: CheckContext, initialize: Request): Promise<Greeting> {
  const http = context.openHttp();
  const ask = async (body: Request, headers: Record<string, string>) => {
    const answer = await http.request({ body, headers, ms: context.patience.helloMs });
    const frame = await answer.waitFor(
      (each) => each.kind === 'result' || each.kind === 'error',
      context.patience.answerMs,
    );
    const why = `HTTP ${answer.status} without an answer`;
    const reply: Reply = frame ? replyOf(frame, about(body)) : { kind: 'silence', why, ...about(body) };
    return { reply, answer };
  };
  const { reply, answer } = await ask(initialize, legacyHeaders(undefined, undefined));
  const given = answer.headers['mcp-session-id'];
  const sessionId = typeof given === 'string' ? given : undefined;
  return {
    reply,
    ask: async (method) => {
      const body = { jsonrpc: '2.0', id: method, method };
      return (await ask(body, legacyHeaders(context.revision, sessionId))).reply;
    },
    peer: undefined,
  };
}

interface Request {
  readonly id: string;
  readonly method: string;
}

function about({ id, method }: Request) {
  return { id, method, notifications: [], ms: 0 };
}

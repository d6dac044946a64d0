import { isLegacyRevision, LATEST_LEGACY, LATEST_MODERN } from '@isthmus/sdk/internal/era/revisions.js';
import { helloMessage } from '../../conversation/envelope.js';
import type { Check } from '../../model.js';
import { openLine, versionsIn } from './line.js';
import { listMethodOf, modernRequest } from './lock.js';

const common = { suite: 'era', lane: 'own', era: 'none' } as const satisfies Partial<Check>;

/** How a server of one era answers a client of the other era. */
export const fallbackChecks: readonly Check[] = [
  {
    ...common,
    id: 'era/initialize-asks-modern',
    title: 'Never accepts a modern version in initialize',
    level: 'MUST',
    rules: ['VER-008'],
    hint: 'Answer initialize with the newest legacy revision that you support, or with an error that names your versions.',
    async run(context) {
      const line = await openLine(context);
      const asked = await line.ask(helloMessage('legacy', LATEST_MODERN, { id: 1 }));
      const version = asked.result?.['protocolVersion'];
      if (asked.result && !isLegacyRevision(version))
        context.fail(
          `initialize with ${LATEST_MODERN} got the version ${JSON.stringify(version)}`,
          'a legacy revision',
        );
      if (!asked.result && !asked.error)
        context.fail(`initialize with ${LATEST_MODERN}: ${asked.seen}`, 'a legacy revision, or an error');
      return asked.result ? `it offered ${String(version)}` : `it answered ${asked.error?.code}`;
    },
  },
  {
    ...common,
    id: 'era/names-versions',
    title: 'Names its versions when it refuses initialize',
    level: 'SHOULD',
    rules: ['VER-009'],
    hint: 'Answer initialize with -32022, with the versions in data.supported and in the message for users.',
    async run(context) {
      if (context.factsOf('legacy')) return context.skip('the target also supports the legacy era');
      const line = await openLine(context);
      const asked = await line.ask(helloMessage('legacy', LATEST_LEGACY, { id: 1 }));
      if (asked.result) return context.skip('initialize was answered with a result');
      if (!asked.error) context.fail(`initialize: ${asked.seen}`, 'an error that names the versions');
      if (!versionsIn(asked.error).includes(context.revision))
        context.fail(`initialize got ${asked.seen}`, `an error that names ${context.revision}`);
      return `the error ${asked.error?.code} names ${context.revision}`;
    },
  },
  {
    ...common,
    id: 'era/refuses-initialize-with-400',
    title: 'Refuses the initialize of a legacy client with status 400',
    level: 'MUST',
    rules: ['VER-026'],
    over: ['http'],
    hint: 'A POST without the headers of the modern era is a bad request: status 400, with a JSON-RPC error in the body.',
    async run(context) {
      if (context.factsOf('legacy')) return context.skip('the target also supports the legacy era');
      const asked = await (await openLine(context)).ask(helloMessage('legacy', LATEST_LEGACY, { id: 1 }));
      if (asked.status !== 400) context.fail(`initialize got HTTP ${asked.status}`, 'HTTP 400');
      return 'initialize got HTTP 400';
    },
  },
  {
    ...common,
    id: 'era/no-accidental-service',
    title: 'Refuses a modern request without a handshake if it supports only the legacy era',
    level: 'SHOULD',
    rules: [],
    reason: 'A modern client would conclude that the server supports the modern era.',
    hint: 'Refuse every request but ping before initialize.',
    async run(context) {
      if (context.factsOf('modern')) return context.skip('the target supports the modern era');
      const method = listMethodOf(context);
      if (method === undefined) return context.skip('the server has no lists');
      const asked = await (await openLine(context)).ask(modernRequest(1, method));
      if (asked.result) context.fail(`a modern ${method} without a handshake got ${asked.seen}`, 'an error');
      return asked.error ? `it got ${asked.error.code}` : asked.seen;
    },
  },
  {
    ...common,
    id: 'era/probe-is-answered',
    title: 'Answers the probe of a modern client, if only with an error',
    level: 'SHOULD',
    rules: [],
    reason: 'Otherwise a client of both eras waits for its timeout at each start.',
    over: ['command', 'socket'],
    hint: 'Answer unknown methods with an error, also before initialize.',
    async run(context) {
      if (context.factsOf('modern')) return 'server/discover had a result';
      const verdict = context.verdicts.find(({ era }) => era === 'modern');
      if (!verdict || verdict.speaks) return context.skip('the modern era was not tried');
      if (verdict.reply?.kind === 'silence')
        context.fail(`server/discover before initialize: ${verdict.reply.why}`, 'an error');
      return verdict.why;
    },
  },
];

import { LATEST_LEGACY, LATEST_MODERN } from '@isthmus/sdk/internal/era/revisions.js';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { aliveMethod } from '../../conversation/conversation.js';
import { helloMessage, modernParams } from '../../conversation/envelope.js';
import type { Check } from '../../model.js';
import type { CheckContext } from '../../run/check-context.js';
import { needBothEras, openLine } from './line.js';

const common = { suite: 'era', lane: 'own', era: 'none' } as const satisfies Partial<Check>;
const streams = ['command', 'socket'] as const;

/** Both eras on one connection. The first accepted request may decide the era. */
export const lockChecks: readonly Check[] = [
  {
    ...common,
    id: 'era/initialize-after-modern',
    title: 'Answers initialize after modern requests, and serves the era that it then states',
    level: 'MUST',
    rules: ['VER-006', 'VER-005'],
    over: streams,
    hint: 'Switch to the legacy era, or refuse initialize with an error that names the versions. Then serve the era that you chose.',
    async run(context) {
      needBothEras(context);
      const line = await openLine(context);
      const first = await line.ask(helloMessage('modern', LATEST_MODERN, { id: 1 }));
      if (!first.result) context.fail(`server/discover got ${first.seen}`, 'a result');
      const asked = await line.ask(helloMessage('legacy', LATEST_LEGACY, { id: 2 }));
      if (!asked.result && !asked.error)
        context.fail(`initialize after server/discover: ${asked.seen}`, 'the handshake, or an error');
      if (asked.result) {
        await line.say({ jsonrpc: '2.0', method: 'notifications/initialized' });
        const ping = await line.ask({ jsonrpc: '2.0', id: 3, method: 'ping' });
        if (!ping.result) context.fail(`initialize was accepted, and then ping got ${ping.seen}`, 'a result');
        return 'it switched to the handshake';
      }
      const after = await line.ask(helloMessage('modern', LATEST_MODERN, { id: 3 }));
      if (!after.result)
        context.fail(`initialize was refused, and then server/discover got ${after.seen}`, 'a result');
      return `initialize was refused with ${asked.error?.code}, and the modern era continued`;
    },
  },
  {
    ...common,
    id: 'era/modern-after-initialize',
    title: 'Answers a modern probe after a handshake, and keeps the session',
    level: 'MUST',
    rules: ['VER-005'],
    over: streams,
    hint: 'First look for the modern version in _meta. Serve the request without the session, or answer with an error.',
    async run(context) {
      needBothEras(context);
      const line = await openLine(context);
      await greetLegacy(context, line);
      const asked = await line.ask(helloMessage('modern', LATEST_MODERN, { id: 2 }));
      if (!asked.result && !asked.error)
        context.fail(`server/discover after a handshake: ${asked.seen}`, 'an answer');
      if (asked.result && !Array.isArray(asked.result['supportedVersions']))
        context.fail(`server/discover after a handshake got ${asked.seen}`, 'a modern result, or an error');
      const ping = await line.ask({ jsonrpc: '2.0', id: 4, method: 'ping' });
      if (!ping.result) context.fail(`after it, ping in the session got ${ping.seen}`, 'a result');
      return asked.result
        ? 'it was served in addition to the session'
        : `it was refused with ${asked.error?.code}`;
    },
  },
  {
    ...common,
    id: 'era/modern-rules-after-initialize',
    title: 'Serves a modern request after a handshake with the modern rules, or refuses it',
    level: 'SHOULD',
    rules: ['VER-005'],
    reason:
      'The specification binds the process to the handshake, and a request to its envelope. A mixture of both is not defined.',
    over: streams,
    hint: 'First look for the modern version in _meta. Serve the request without the session, or answer with an error.',
    async run(context) {
      needBothEras(context);
      const method = listMethodOf(context);
      if (method === undefined) return context.skip('the server has no lists');
      const line = await openLine(context);
      await greetLegacy(context, line);
      const list = await line.ask(modernRequest(2, method));
      if (list.result && list.result['resultType'] === undefined) {
        context.fail(
          `${method} with a modern envelope was served by the rules of the session: ${list.seen}`,
          'a result with resultType, or an error',
        );
      }
      return list.result ? 'it was served by the modern rules' : `it was refused: ${list.seen}`;
    },
  },
  {
    ...common,
    id: 'era/beside-a-session',
    title: 'Serves modern requests at the same URL as a session',
    level: 'MUST',
    rules: ['VER-005'],
    over: ['http'],
    hint: 'Decide by the envelope of each request, not by earlier requests to this URL.',
    async run(context) {
      needBothEras(context);
      const session = await context.openConversation({ era: 'legacy' });
      const line = await openLine(context);
      const asked = await line.ask(helloMessage('modern', LATEST_MODERN, { id: 'beside' }));
      if (!asked.result?.['supportedVersions'])
        context.fail(`server/discover beside a session got ${asked.seen}`, 'a result by the modern rules');
      const ping = await session.request('ping');
      if (ping.kind !== 'result') context.fail('after it, ping in the session had no result', 'a result');
      return 'both eras were served at the same time';
    },
  },
  {
    ...common,
    id: 'era/failed-probe',
    title: 'Accepts the handshake on a connection after a failed probe',
    level: 'SHOULD',
    rules: [],
    reason: 'Clients of both eras probe first, and fall back to initialize in the same process.',
    over: streams,
    hint: 'Answer unknown methods with an error. They must not decide the era of the connection.',
    async run(context) {
      if (!context.factsOf('legacy')) return context.skip('the target does not support the legacy era');
      const line = await openLine(context);
      const version = context.factsOf('modern') ? '2099-12-31' : LATEST_MODERN;
      // Some servers do not answer unknown methods, so the check does not wait for the probe.
      const probe = line.ask(helloMessage('modern', version, { id: 'probe' }));
      const asked = await line.ask(
        helloMessage('legacy', LATEST_LEGACY, { id: 1 }),
        context.patience.helloMs,
      );
      if (!asked.result) context.fail(`initialize after a failed probe got ${asked.seen}`, 'the handshake');
      await line.say({ jsonrpc: '2.0', method: 'notifications/initialized' });
      const ping = await line.ask({ jsonrpc: '2.0', id: 2, method: 'ping' });
      if (!ping.result) context.fail(`after the handshake, ping got ${ping.seen}`, 'a result');
      const { error } = await Promise.race([probe, context.pause(0).then(() => ({ error: undefined }))]);
      return `the probe got ${error ? error.code : 'no error'}, and the handshake was accepted`;
    },
  },
  {
    ...common,
    id: 'era/unknown-version',
    title: 'Refuses an unknown version with the list of its versions, and serves the next request',
    level: 'MUST',
    rules: ['VER-001', 'ERR-011', 'DISC-008', 'STATE-001'],
    era: 'modern',
    hint: 'Check the version of every request, and answer -32022 with data.supported and data.requested.',
    async run(context) {
      const line = await openLine(context);
      const asked = await line.ask(helloMessage('modern', '1900-01-01', { id: 1 }));
      if (asked.error?.code !== -32022)
        context.fail(`version 1900-01-01 got ${asked.seen}`, 'an error -32022');
      const { supported, requested } = (asked.error?.data ?? {}) as JsonObject;
      if (!Array.isArray(supported) || !supported.includes(context.revision))
        context.fail(`data.supported is ${JSON.stringify(supported)}`, `a list that has ${context.revision}`);
      if (requested !== '1900-01-01')
        context.fail(`data.requested is ${JSON.stringify(requested)}`, 'the requested version');
      const next = await line.ask(helloMessage('modern', context.revision, { id: 2 }));
      if (!next.result)
        context.fail(`the next request, with ${context.revision}, got ${next.seen}`, 'a result');
      return `-32022 named ${(supported as string[]).join(', ')}, and the next request was served`;
    },
  },
  {
    ...common,
    id: 'era/early-messages',
    title: 'Accepts the first request after an early ping and early notifications',
    level: 'SHOULD',
    rules: [],
    reason: 'A ping is allowed before the handshake, and a notification does not open a connection.',
    era: 'each',
    over: streams,
    hint: 'Only an accepted request decides the era, not ping and not a notification.',
    async run(context) {
      const line = await openLine(context);
      await line.say({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'nobody' } });
      await line.say({ jsonrpc: '2.0', id: 'early', method: 'ping' });
      await line.say({ jsonrpc: '2.0', method: 'notifications/no-such-thing' });
      const hello = helloMessage(context.era, context.revision, { id: 1 });
      const asked = await line.ask(hello, context.patience.helloMs);
      if (!asked.result)
        context.fail(`after a ping and two notifications, ${hello.method} got ${asked.seen}`, 'a result');
      return `${hello.method} was answered after a ping and two notifications`;
    },
  },
  {
    ...common,
    id: 'era/no-opening',
    title: 'Refuses a request without a handshake and without a modern envelope',
    level: 'SHOULD',
    rules: ['META-004'],
    // Over HTTP a server may treat it as a client of 2025-03-26 without a session.
    over: streams,
    era: 'modern',
    hint: 'Answer -32602: the request has neither a version nor client capabilities.',
    async run(context) {
      const method = listMethodOf(context) ?? aliveMethod({ era: 'modern' });
      const line = await openLine(context);
      const asked = await line.ask({ jsonrpc: '2.0', id: 1, method });
      if (asked.result) context.fail(`a bare ${method} got ${asked.seen}`, 'an error');
      return asked.error ? `a bare ${method} got ${asked.error.code}` : `a bare ${method}: ${asked.seen}`;
    },
  },
];

async function greetLegacy(context: CheckContext, line: Awaited<ReturnType<typeof openLine>>): Promise<void> {
  const asked = await line.ask(helloMessage('legacy', LATEST_LEGACY, { id: 1 }));
  if (!asked.result) context.fail(`initialize got ${asked.seen}`, 'a result');
  await line.say({ jsonrpc: '2.0', method: 'notifications/initialized' });
}

/** A list method of the server; undefined if it has none. */
export function listMethodOf({ facts }: CheckContext): string | undefined {
  const found = (['tools', 'resources', 'prompts'] as const).find(
    (each) => facts.capabilities[each] !== undefined,
  );
  return found && `${found}/list`;
}

export function modernRequest(id: number | string, method: string): JsonObject {
  return { jsonrpc: '2.0', id, method, params: modernParams({}, LATEST_MODERN, {}) };
}

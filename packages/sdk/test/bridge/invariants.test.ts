import { describe, expect, it } from 'vitest';
import {
  CAPABILITIES,
  CLIENT_INFO,
  type Frame,
  LOG_LEVEL,
  SERVER_INFO,
  SUBSCRIPTION_ID,
  VERSION,
} from '../support/bridge/frames.js';
import { farProblems } from '../support/bridge/judge-far.js';
import { nearProblems } from '../support/bridge/judge-near.js';

const INFO = { name: 'n', version: '1' };
const META = { [VERSION]: '2026-07-28', [CAPABILITIES]: {}, [CLIENT_INFO]: INFO };
const DONE = { content: [], resultType: 'complete', _meta: { [SERVER_INFO]: INFO } };

const client = (message: object): Frame => ({ from: 'client', message: { jsonrpc: '2.0', ...message } });
const server = (message: object): Frame => ({ from: 'server', message: { jsonrpc: '2.0', ...message } });
const call = (id: number, meta: object = {}) =>
  client({ id, method: 'tools/call', params: { name: 'a', _meta: { ...META, ...meta } } });
const listen = (id: number, notifications: object) =>
  client({ id, method: 'subscriptions/listen', params: { notifications, _meta: META } });
const told = (method: string, id: number | undefined, more: object = {}) =>
  server({ method, params: { ...(id !== undefined && { _meta: { [SUBSCRIPTION_ID]: id } }), ...more } });
const acknowledged = (id: number, notifications: object) =>
  told('notifications/subscriptions/acknowledged', id, { notifications });
const changed = (id?: number) => told('notifications/tools/list_changed', id);
const progress = (progressToken: number, value: number) =>
  server({ method: 'notifications/progress', params: { progressToken, progress: value } });
const log = server({ method: 'notifications/message', params: { level: 'info', data: 'a' } });
const cancelled = (requestId: number) => client({ method: 'notifications/cancelled', params: { requestId } });

describe('what is never done to a modern client', () => {
  it.each<[what: string, frames: Frame[]]>([
    ['a call that is answered', [call(1), server({ id: 1, result: DONE })]],
    [
      'progress within its call',
      [call(1, { progressToken: 5 }), progress(5, 1), progress(5, 2), server({ id: 1, result: DONE })],
    ],
    ['a log that was asked for', [call(1, { [LOG_LEVEL]: 'info' }), log, server({ id: 1, result: DONE })]],
    [
      'a change that was asked for',
      [listen(1, { toolsListChanged: true }), acknowledged(1, { toolsListChanged: true }), changed(1)],
    ],
  ])('lets pass %s', (_what, frames) => {
    expect(nearProblems(frames, '2026-07-28')).toEqual([]);
  });

  it.each<[problem: RegExp, frames: Frame[]]>([
    [/a request reaches a modern client/, [call(1), server({ id: 9, method: 'roots/list' })]],
    [
      /without resultType/,
      [call(1), server({ id: 1, result: { content: [], _meta: { [SERVER_INFO]: INFO } } })],
    ],
    [/without serverInfo/, [call(1), server({ id: 1, result: { content: [], resultType: 'complete' } })]],
    [/an answer to no request/, [call(1), server({ id: '1', result: DONE })]],
    [/an answer to no request/, [call(1), server({ id: 1, result: DONE }), server({ id: 1, result: DONE })]],
    [/after its cancellation/, [call(1), cancelled(1), server({ id: 1, result: DONE })]],
    [/the code -32002/, [call(1), server({ id: 1, error: { code: -32002, message: 'a' } })]],
    [/the code -32042/, [call(1), server({ id: 1, error: { code: -32042, message: 'a' } })]],
    [
      /outside of its request/,
      [call(1, { progressToken: 5 }), server({ id: 1, result: DONE }), progress(5, 1)],
    ],
    [/does not rise/, [call(1, { progressToken: 5 }), progress(5, 1), progress(5, 1)]],
    [/no running request asked for/, [call(1), log]],
    [/no running request asked for/, [call(1, { [LOG_LEVEL]: 'error' }), log]],
    [/outside of any listen/, [call(1), changed()]],
    [
      /outside of any listen/,
      [listen(1, { toolsListChanged: true }), acknowledged(1, {}), cancelled(1), changed(1)],
    ],
    [/before the acknowledgement/, [listen(1, { toolsListChanged: true }), changed(1)]],
    [/was not acknowledged/, [listen(1, {}), acknowledged(1, {}), changed(1)]],
    [/was not asked for/, [listen(1, {}), acknowledged(1, { toolsListChanged: true })]],
  ])('catches %s', (problem, frames) => {
    expect(nearProblems(frames, '2026-07-28').join('\n')).toMatch(problem);
  });
});

describe('what is never done to a legacy client', () => {
  const opened = [
    client({ id: 0, method: 'initialize', params: { capabilities: { roots: {} } } }),
    server({ id: 0, result: { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: INFO } }),
  ];
  const plain = client({ id: 1, method: 'tools/call', params: { name: 'a' } });

  it('lets pass a call that asks for roots', () => {
    const asked = [server({ id: 0, method: 'roots/list' }), client({ id: 0, result: { roots: [] } })];
    const frames = [...opened, plain, ...asked, server({ id: 1, result: { content: [] } })];
    expect(nearProblems(frames, '2025-11-25')).toEqual([]);
  });

  it.each<[problem: RegExp, frames: Frame[]]>([
    [
      /sees input_required/,
      [plain, server({ id: 1, result: { resultType: 'input_required', requestState: 'a' } })],
    ],
    [/resultType reaches/, [plain, server({ id: 1, result: DONE })]],
    [/the code -32021/, [plain, server({ id: 1, error: { code: -32021, message: 'a' } })]],
    [/subscriptionId reaches/, [changed(1)]],
    [
      /elicitation was not declared/,
      [
        server({
          id: 0,
          method: 'elicitation/create',
          params: { message: 'a', requestedSchema: { type: 'object', properties: {} } },
        }),
      ],
    ],
    [/used before/, [server({ id: 0, method: 'roots/list' }), server({ id: 0, method: 'roots/list' })]],
    [/after its cancellation/, [plain, cancelled(1), server({ id: 1, result: { content: [] } })]],
    [/outside of its request/, [plain, progress(5, 1)]],
    [/result: .* surplus is unknown/, [plain, server({ id: 1, result: { content: [], surplus: 1 } })]],
  ])('catches %s', (problem, frames) => {
    expect(nearProblems([...opened, ...frames], '2025-11-25').join('\n')).toMatch(problem);
  });
});

describe('what is never done to a server', () => {
  const handshake = [
    client({ id: 0, method: 'initialize', params: {} }),
    client({ method: 'notifications/initialized' }),
  ];
  const plain = (id: number, params: object = {}) => client({ id, method: 'tools/call', params });

  it('lets pass calls that are as they should be', () => {
    expect(farProblems([call(1), cancelled(1)], '2026-07-28')).toEqual([]);
    expect(farProblems([...handshake, plain(1), cancelled(1)], '2025-11-25')).toEqual([]);
  });

  it.each<[problem: RegExp, frames: Frame[]]>([
    [/a response reaches a modern server/, [client({ id: 1, result: {} })]],
    [/without a version/, [client({ id: 1, method: 'tools/list', params: {} })]],
    [/initialize reaches/, [client({ id: 1, method: 'initialize', params: { _meta: META } })]],
    [/notifications\/progress reaches/, [client({ method: 'notifications/progress', params: {} })]],
    [/id that is in flight/, [call(1), call(1)]],
    [/token that is in use/, [call(1, { progressToken: 5 }), call(2, { progressToken: 5 })]],
    [/cancellation of no running/, [cancelled(1)]],
  ])('catches, before a modern one, %s', (problem, frames) => {
    expect(farProblems(frames, '2026-07-28').join('\n')).toMatch(problem);
  });

  it.each<[problem: RegExp, frames: Frame[]]>([
    [/before the handshake/, [plain(1)]],
    [/used before/, [...handshake, plain(1), server({ id: 1, result: {} }), plain(1)]],
    [/answer to no open question/, [...handshake, client({ id: 5, result: {} })]],
    [/protocolVersion reaches/, [...handshake, plain(1, { _meta: META })]],
    [/requestState reaches/, [...handshake, plain(1, { requestState: 'a' })]],
    [
      /token that is in use/,
      [...handshake, plain(1, { _meta: { progressToken: 5 } }), plain(2, { _meta: { progressToken: 5 } })],
    ],
  ])('catches, before a legacy one, %s', (problem, frames) => {
    expect(farProblems(frames, '2025-11-25').join('\n')).toMatch(problem);
  });
});

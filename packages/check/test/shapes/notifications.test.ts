import { describe, expect, it } from 'vitest';
import { judgeNotification, type Revision } from '../../src/shapes/index.js';
import { REVISIONS, said } from '../support/shapes/said.js';

const LEGACY = REVISIONS.slice(0, 4);
const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
const onStream = { _meta: { [SUBSCRIPTION]: 7 } };

const saidOf = (name: string, params?: unknown, revision: Revision = '2026-07-28') =>
  said(judgeNotification(`notifications/${name}`, params, revision));

describe('notifications of a server', () => {
  it.each(LEGACY)('are known in %s', (revision) => {
    expect(saidOf('tools/list_changed', undefined, revision)).toEqual([]);
    expect(saidOf('prompts/list_changed', {}, revision)).toEqual([]);
    expect(saidOf('resources/list_changed', { _meta: {} }, revision)).toEqual([]);
    expect(saidOf('resources/updated', { uri: 'test://a' }, revision)).toEqual([]);
    expect(saidOf('progress', { progressToken: 't', progress: 0.5, total: 1 }, revision)).toEqual([]);
    expect(saidOf('message', { level: 'info', data: null }, revision)).toEqual([]);
    expect(saidOf('cancelled', { requestId: 1, reason: 'enough' }, revision)).toEqual([]);
  });

  it('are known in 2026-07-28, where news comes on a listen stream (META-013)', () => {
    expect(saidOf('tools/list_changed', onStream)).toEqual([]);
    expect(saidOf('resources/updated', { uri: 'test://a', ...onStream })).toEqual([]);
    expect(saidOf('subscriptions/acknowledged', { ...onStream, notifications: {} })).toEqual([]);
    expect(saidOf('cancelled', { requestId: 'a' })).toEqual([]);
  });

  it.each<[string, unknown, string[]]>([
    ['tools/list_changed', undefined, ['params: expected an object, got nothing']],
    ['prompts/list_changed', {}, ['params._meta: expected an object, got nothing']],
    [
      'resources/list_changed',
      { _meta: {} },
      [`params._meta["${SUBSCRIPTION}"]: expected a string or an integer, got nothing`],
    ],
    ['resources/updated', { ...onStream, uri: 'a' }, ['params.uri: expected a URI (RFC 3986), got "a"']],
    ['resources/updated', { uri: 'test://a' }, ['params._meta: expected an object, got nothing']],
    ['subscriptions/acknowledged', onStream, ['params.notifications: expected an object, got nothing']],
    [
      'subscriptions/acknowledged',
      { ...onStream, notifications: { toolsListChanged: 'yes', resourceSubscriptions: 'test://a' } },
      [
        'params.notifications.toolsListChanged: expected a boolean, got "yes"',
        'params.notifications.resourceSubscriptions: expected an array, got "test://a"',
      ],
    ],
    [
      'progress',
      {},
      [
        'params.progressToken: expected a string or an integer, got nothing',
        'params.progress: expected a number, got nothing',
      ],
    ],
    [
      'progress',
      { progressToken: 1.5, progress: '1' },
      [
        'params.progressToken: expected a string or an integer, got 1.5',
        'params.progress: expected a number, got "1"',
      ],
    ],
    ['progress', { progressToken: 1, progress: 1, total: '9' }, ['params.total: expected a number, got "9"']],
    ['progress', { progressToken: 1, progress: 1, message: 9 }, ['params.message: expected a string, got 9']],
    [
      'message',
      { level: 'verbose', data: 1 },
      ['params.level: expected a log level such as "info", got "verbose"'],
    ],
    ['message', { level: 'info' }, ['params.data: expected a value, got nothing']],
    ['message', { level: 'info', data: 1, logger: 2 }, ['params.logger: expected a string, got 2']],
    ['cancelled', {}, ['params.requestId: expected a string or an integer, got nothing']],
    ['cancelled', { requestId: 1, reason: 2 }, ['params.reason: expected a string, got 2']],
  ])('%s complains about %j', (name, params, complaints) => {
    expect(saidOf(name, params)).toEqual(complaints);
  });

  it('a cancellation may leave out its request in 2025-11-25 alone (CANC-016)', () => {
    expect(saidOf('cancelled', {}, '2025-11-25')).toEqual([]);
    expect(saidOf('cancelled', {}, '2025-06-18')).toEqual([
      'params.requestId: expected a string or an integer, got nothing',
    ]);
  });

  it('progress had no message in 2024-11-05', () => {
    expect(saidOf('progress', { progressToken: 1, progress: 1, message: 9 }, '2024-11-05')).toEqual([]);
  });

  it.each<[string, Revision]>([
    ['elicitation/complete', '2026-07-28'],
    ['elicitation/complete', '2025-06-18'],
    ['tasks/status', '2026-07-28'],
    ['subscriptions/acknowledged', '2025-11-25'],
    ['initialized', '2025-11-25'],
    ['roots/list_changed', '2025-11-25'],
  ])('%s is none of a server of %s (ELIC-025)', (name, revision) => {
    expect(saidOf(name, {}, revision)).toEqual([
      `method: expected a notification of a server of ${revision}, got "notifications/${name}"`,
    ]);
  });

  it('what an extension invents is let be', () => {
    expect(saidOf('example/news', { any: 1 })).toEqual([]);
    expect(saidOf('example/news', { _meta: { [SUBSCRIPTION]: {} } })).toEqual([
      `params._meta["${SUBSCRIPTION}"]: expected a string or an integer, got an object`,
    ]);
  });

  it('elicitation/complete names what is complete', () => {
    expect(saidOf('elicitation/complete', {}, '2025-11-25')).toEqual([
      'params.elicitationId: expected a string, got nothing',
    ]);
  });
});

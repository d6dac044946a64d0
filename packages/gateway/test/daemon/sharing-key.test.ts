import { expect, test } from 'vitest';
import { sharingKey } from '../../src/daemon/attached-servers.js';
import { type AttachParams, readAttachParams } from '../../src/daemon/definition.js';

const definition = { command: 'npx', args: ['-y', 'weather'], env: { A: '1', B: '2' }, cwd: '/srv' };

function command(changed: object = {}, name = 'weather'): AttachParams {
  return {
    server: { kind: 'command', name, ...definition, ...changed },
    ambient: {},
    sseFirst: false,
    graceMs: 1,
  };
}

function url(changed: object = {}, address = 'https://example.com/mcp'): AttachParams {
  const headers = { authorization: 'a' };
  return {
    server: { kind: 'url', name: 'remote', url: address, headers, transport: 'auto', ...changed },
    ambient: {},
    sseFirst: false,
    graceMs: 1,
  };
}

test.each<[string, AttachParams, AttachParams]>([
  ['another name', command(), command({}, 'wetter')],
  ['another order of the variables', command(), command({ env: { B: '2', A: '1' } })],
  ['other variables that say nothing about it', command(), { ...command(), ambient: { TERM: 'dumb' } }],
  ['another grace', command(), { ...command(), graceMs: 2 }],
  ['a setting that is left out or undefined', command(), command({ mode: undefined })],
])('hosts share a server in spite of %s', (_, one, other) => {
  expect(sharingKey(other)).toBe(sharingKey(one));
});

test.each<[string, AttachParams, AttachParams]>([
  ['command', command(), command({ command: 'uvx' })],
  ['arguments', command(), command({ args: ['-y', 'weather', '--metric'] })],
  ['cut of the arguments', command({ args: ['a b'] }), command({ args: ['a', 'b'] })],
  ['value of a variable', command(), command({ env: { A: '1', B: '3' } })],
  ['folder', command(), command({ cwd: '/home' })],
  ['setting', command(), command({ processes: 'per-conversation' })],
  ['kind', command(), url()],
  ['URL', url(), url({}, 'https://example.com/mcp?key=2')],
  ['header', url(), url({ headers: { authorization: 'b' } })],
  ['transport', url(), url({ transport: 'sse' })],
  ['first transport', url(), { ...url(), sseFirst: true }],
])('hosts never share a server when they have another %s', (_, one, other) => {
  expect(sharingKey(other)).not.toBe(sharingKey(one));
});

test('what a shim sends is understood, and nothing else is', () => {
  const sent = JSON.parse(JSON.stringify({ ...command() }));
  expect(readAttachParams(sent)).toEqual(command());
  expect(readAttachParams(JSON.parse(JSON.stringify(url())))).toEqual(url());
  for (const wrong of [
    {},
    { ...sent, server: 1 },
    { ...sent, graceMs: -1 },
    { ...sent, ambient: { A: 1 } },
    { ...sent, server: { ...sent.server, args: [1] } },
    { ...sent, server: { ...sent.server, kind: 'secret' } },
  ]) {
    expect(() => readAttachParams(wrong)).toThrow(/^The daemon does not understand/);
  }
});

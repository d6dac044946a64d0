/** Ten hosts that insist on launching a server of their own. */
import { expect, it } from 'vitest';
import {
  command,
  daemonPids,
  gone,
  serverPids,
  shim,
  useDaemonHome,
} from '../../packages/gateway/test/support/daemon-home.js';
import { program } from '../bridge-load/support/far.js';
import { call, initialize, legacyCall, textOf } from '../support/messages.js';

const home = useDaemonHome();

it('D-21 openai/codex#12491, #20883, anthropics/claude-code#28860: ten hosts through the shim have one child, which is released after the last one has gone', async () => {
  const words = ['--grace', '200', ...command(home, program('legacy-lines.mjs'))];
  const hosts = Array.from({ length: 10 }, () => shim(home, ...words));
  const answers = hosts.map(async (host, at) => {
    if (at % 2 === 0) {
      host.send(initialize('open'), { jsonrpc: '2.0', method: 'notifications/initialized' });
      host.send(legacyCall(1, 'pid'), legacyCall(2, 'echo', { text: `host ${at}` }));
    } else host.send(call(1, 'pid'), call(2, 'echo', { text: `host ${at}` }));
    return [textOf(await host.answer(1)), textOf(await host.answer(2))];
  });
  const [[pid] = []] = await Promise.all(answers);
  expect(await Promise.all(answers)).toEqual(hosts.map((_, at) => [pid, `host ${at}`]));
  expect(serverPids(home)).toEqual([Number(pid)]);
  const [daemon, ...daemons] = daemonPids(home);
  expect(daemons).toEqual([]);

  const [last, ...others] = hosts;
  for (const [at, host] of others.entries()) {
    // Some leave in order, and some are killed.
    if (at % 3 === 0) host.kill('SIGKILL');
    else host.end();
  }
  await Promise.all(others.map((host) => host.ended));
  last!.send(legacyCall(3, 'pid'));
  expect(textOf(await last!.answer(3))).toBe(pid);
  last!.end();
  expect(await last!.exit()).toEqual({ code: 0, signal: null });
  await gone(Number(pid));
  await gone(daemon!);
}, 60_000);

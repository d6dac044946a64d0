import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/**
 * Folders whose files may share a process, one after the other: nothing is started and loaded again for each, which
 * is half of what they cost. They leave nothing behind in it. New folders come here when they have shown that.
 */
const SHARED = [
  ...[
    'sdk/test',
    'cli/test',
    'gateway/test/{aggregate,auth,control,daemon,http,limits,pipeline,telemetry}',
  ].map(inPackages),
  'packages/gateway/test/*.test.ts',
  ...['check/test/{client,report,rules,run,shapes,suites,through}'].map(inPackages),
  'test/{e2e,interop}/**/*.test.ts',
];

/** Minutes of the same with more partners, or more of it: `npm run test:long`. */
const LONG = [
  'packages/check/test/client/official.test.ts',
  'packages/check/test/client/real-clients.test.ts',
  'packages/check/test/report/html.test.ts',
  'packages/check/test/suites/lifetime/lifetime.test.ts',
  'packages/check/test/suites/resilience/load.test.ts',
  'packages/check/test/through/bridges.test.ts',
  'packages/cli/test/attach/attach.test.ts',
  'packages/cli/test/attach/crash.test.ts',
  'packages/cli/test/attach/remote.test.ts',
  'packages/cli/test/bench/bench.test.ts',
  'packages/cli/test/check/check-client.test.ts',
  'packages/cli/test/check/run.test.ts',
  'packages/cli/test/commands/call.test.ts',
  'packages/cli/test/commands/docs.test.ts',
  'packages/cli/test/commands/list-read.test.ts',
  'packages/cli/test/commands/task.test.ts',
  'packages/cli/test/compat/serve.test.ts',
  'packages/cli/test/config-target.test.ts',
  'packages/cli/test/exit-codes.test.ts',
  'packages/cli/test/http-target.test.ts',
  'packages/cli/test/login/daemon-commands.test.ts',
  'packages/cli/test/login/device-login.test.ts',
  'packages/cli/test/login/every-byte.test.ts',
  'packages/cli/test/login/login-advice.test.ts',
  'packages/cli/test/login/login.test.ts',
  'packages/cli/test/login/no-browser.test.ts',
  'packages/cli/test/probe/probe.test.ts',
  'packages/cli/test/serve/exit-codes.test.ts',
  'packages/cli/test/serve/options.test.ts',
  'packages/cli/test/serve/serve.test.ts',
  'packages/console/test/inspect/inspect.test.ts',
  'packages/gateway/test/chaos/chaos.test.ts',
  'packages/gateway/test/connect/many-callers.test.ts',
  'packages/gateway/test/control-workers.test.ts',
  'packages/gateway/test/serve-workers.test.ts',
  'packages/sdk/test/client/vices.test.ts',
  'packages/sdk/test/cluster/redis-kinds.test.ts',
  'packages/sdk/test/host/chaos.test.ts',
  'packages/sdk/test/host/lifetime-of-programs.test.ts',
  'packages/sdk/test/host/questions.test.ts',
  'packages/sdk/test/process/death-watch-program.test.ts',
  'packages/sdk/test/process/death-watch.test.ts',
  'packages/sdk/test/process/ledger.test.ts',
  'packages/sdk/test/server/tasks/flood.test.ts',
  'packages/sdk/test/transport/http-server/admission/hostile.test.ts',
  'packages/sdk/test/transport/replicas/adoption.test.ts',
  'packages/sdk/test/transport/replicas/no-record.test.ts',
  'test/apps/skills.test.ts',
  'test/bridge-load/http-upstream.test.ts',
  'test/bridge-load/interactive.test.ts',
  'test/bridge-load/serve-command.test.ts',
  'test/bridge-load/slow-readers.test.ts',
  'test/bridge-load/unread-answers.test.ts',
  'test/bridge-load/upstream-sessions.test.ts',
  'test/bridge-matrix/direct.test.ts',
  'test/cluster/balancers.test.ts',
  'test/cluster/chaos.test.ts',
  'test/cluster/configuration.test.ts',
  'test/cluster/conformance.test.ts',
  'test/cluster/load.test.ts',
  'test/cluster/matrix.test.ts',
  'test/cluster/operation.test.ts',
  'test/cluster/page.test.ts',
  'test/cluster/redis-failures.test.ts',
  'test/cluster/redis-faults.test.ts',
  'test/cluster/rolling.test.ts',
  'test/cluster/suites.test.ts',
  'test/cluster/tasks.test.ts',
  'test/conformance/runner.test.ts',
  'test/console/access-tree.test.ts',
  'test/console/accessibility.test.ts',
  'test/console/findings.test.ts',
  'test/console/frames.test.ts',
  'test/console/gateway-page.test.ts',
  'test/console/hidden-tab.test.ts',
  'test/console/hostile.test.ts',
  'test/console/keyboard.test.ts',
  'test/console/large-result.test.ts',
  'test/console/lens.test.ts',
  'test/console/lifecycle.test.ts',
  'test/console/official-servers.test.ts',
  'test/console/narrow.test.ts',
  'test/console/other-origin.test.ts',
  'test/console/overview.test.ts',
  'test/console/questions.test.ts',
  'test/console/replay.test.ts',
  'test/console/sign-in.test.ts',
  'test/console/trace-page.test.ts',
  'test/console/typing.test.ts',
  'test/docs/stories.test.ts',
  'test/e2e/stalled-reader.test.ts',
  'test/e2e/stdio-resilience.test.ts',
  'test/e2e/task-stores.test.ts',
  'test/e2e/tasks-chaos.test.ts',
  'test/found/c3-killing-call.test.ts',
  'test/found/c4-one-cause.test.ts',
  'test/found/c5-missed-faults.test.ts',
  'test/found/n1-npm-page.test.ts',
  'test/found/n13-command-line.test.ts',
  'test/found/r3-unread-stdin.test.ts',
  'test/found/r5-hang-up.test.ts',
  'test/found/r6-network-end.test.ts',
  'test/found/r6-official-hosts.test.ts',
  'test/found/r6-stdio-end.test.ts',
  'test/found/r7-burst.test.ts',
  'test/found/s1-patterns.test.ts',
  'test/found/s9-hostile-schemas.test.ts',
  'test/gateway-e2e/inspector.test.ts',
  'test/gateway-e2e/operation.test.ts',
  'test/interop/client-against-servers.test.ts',
  'test/interop/http-official-clients.test.ts',
  'test/interop/matrix.test.ts',
  'test/interop/official-v2.test.ts',
  'test/interop/revisions.test.ts',
  'test/interop/tasks-of-everything.test.ts',
  'test/interop/tasks.test.ts',
  'test/moving/command-lines.test.ts',
  'test/moving/sdk-programs.test.ts',
  'test/package/exports.test.ts',
  'test/package/pack.test.ts',
  'test/site/reference.test.ts',
  'test/site/site.test.ts',
  'test/solved/client-sessions.test.ts',
  'test/solved/eras.test.ts',
  'test/solved/many-clients.test.ts',
  'test/solved/memory.test.ts',
  'test/solved/remote-sessions.test.ts',
  'test/solved/sleep.test.ts',
  'test/solved/survivors.test.ts',
  'test/transparency/transparency.test.ts',
];
/** These keep the whole machine busy, so they run alone, after the long run. */
const BUSY = ['packages/check/test/load/busy-machine.test.ts', 'test/console/flood.test.ts'];
/** These do more in the long run. */
const LONGER = [
  'test/bridge-matrix/matrix.test.ts',
  'test/cluster/round-robin.test.ts',
  'packages/gateway/test/placement/placement.test.ts',
];
const wantsLong = process.env['ISTHMUS_LONG'] === '1';
const left = [
  '**/node_modules/**',
  ...(wantsLong ? [] : LONG),
  ...(process.env['ISTHMUS_BUSY'] === '1' ? [] : BUSY),
];

export default defineConfig({
  // What the packages import of each other has to be the sources too: one module for each file.
  ssr: { resolve: { conditions: ['@isthmus/source', 'node'] } },
  test: {
    globalSetup: ['test/setup/build.ts', 'test/setup/own-folder.ts'],
    // Most tests wait for processes and sockets: on two cores, four files at a time take little more than two.
    maxWorkers: 2 * Math.max(2, availableParallelism() - 1),
    // Real processes on two cores: a slow machine is not a failure, a hang is. The long run does more in a test.
    testTimeout: wantsLong ? 120_000 : 60_000,
    hookTimeout: wantsLong ? 120_000 : 60_000,
    expect: { poll: { timeout: wantsLong ? 60_000 : 30_000, interval: 10 } },
    projects: [
      {
        extends: true,
        test: { name: 'shared', isolate: false, include: wantsLong ? [] : SHARED, exclude: left },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: wantsLong
            ? [...LONG, ...LONGER, ...BUSY]
            : ['test/**/*.test.ts', 'packages/*/test/**/*.test.ts'],
          exclude: wantsLong ? left : [...left, ...SHARED],
        },
      },
    ],
  },
});

function inPackages(folder: string): string {
  return `packages/${folder}/**/*.test.ts`;
}
